-- Histories that scripts/flashback-tools.mjs lets happen on real servers, each with one change to undo.
--
-- @history NAME: TITLE    begins one
-- @tables NAMES           the tables that the change damaged
-- @only FLAVOUR           the server on which it can happen, if not on both
-- @setup, @bad, @later    good changes, the one transaction to undo, and good changes after it; each is a session
-- @good                   the part of the bad change that has to stay, since something later needs it

-- @history update: UPDATE without WHERE
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), total DECIMAL(10,2));
INSERT INTO shop.orders VALUES (1, 'paid', 10.50), (2, 'open', 20.00), (3, 'sent', 7.25);
-- @bad
UPDATE shop.orders SET status = 'void';
-- @later
INSERT INTO shop.orders VALUES (4, 'open', 3.00);

-- @history delete: DELETE of too many rows, then new rows
-- @tables shop.visit
-- @setup
CREATE TABLE shop.visit (id INT AUTO_INCREMENT PRIMARY KEY, at DATETIME(6), page VARCHAR(40) CHARACTER SET latin1, raw VARBINARY(8));
INSERT INTO shop.visit (at, page, raw) VALUES ('2026-01-01 10:00:00.000001', 'café', x'00ff00'), ('2026-01-02', 'start', NULL),
  ('2026-03-01', 'end', x'27');
-- @bad
DELETE FROM shop.visit WHERE at < '2026-12-01';
-- @later
INSERT INTO shop.visit (at, page) VALUES ('2026-12-02', 'new');

-- @history replace: REPLACE of existing rows
-- @tables shop.price
-- @setup
CREATE TABLE shop.price (id INT PRIMARY KEY, sku VARCHAR(10) UNIQUE, cents INT NOT NULL DEFAULT 0);
INSERT INTO shop.price VALUES (1, 'a', 100), (2, 'b', 200), (3, 'c', 300);
-- @bad
REPLACE INTO shop.price (id, sku) VALUES (1, 'b'), (3, 'd'), (9, 'z');
-- @later
INSERT INTO shop.price VALUES (20, 'q', 1);

-- @history changed-since: one of the rows has been changed since
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), note VARCHAR(20));
INSERT INTO shop.orders VALUES (1, 'paid', ''), (2, 'open', ''), (3, 'sent', '');
-- @bad
UPDATE shop.orders SET status = 'void';
-- @later
UPDATE shop.orders SET note = 'called' WHERE id = 2;

-- @history deleted-since: one of the rows has been deleted since
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20));
INSERT INTO shop.orders VALUES (1, 'paid'), (2, 'open'), (3, 'sent');
-- @bad
UPDATE shop.orders SET status = 'void';
-- @later
DELETE FROM shop.orders WHERE id = 2;

-- @history cascade: DELETE of a parent whose children go with it
-- @tables shop.customer shop.orders
-- @setup
CREATE TABLE shop.customer (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, FOREIGN KEY (customer) REFERENCES shop.customer (id) ON DELETE CASCADE);
INSERT INTO shop.customer VALUES (1, 'Ada'), (2, 'Bob');
INSERT INTO shop.orders VALUES (10, 1), (11, 1), (20, 2);
-- @bad
DELETE FROM shop.customer WHERE id = 1;
-- @later
INSERT INTO shop.orders VALUES (21, 2);

-- @history child-since: an inserted parent that has a child now
-- @tables shop.customer
-- @setup
CREATE TABLE shop.customer (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, FOREIGN KEY (customer) REFERENCES shop.customer (id));
INSERT INTO shop.customer VALUES (1, 'Ada');
-- @bad
INSERT INTO shop.customer VALUES (7, 'twice'), (8, 'twice');
-- @good
INSERT INTO shop.customer VALUES (7, 'twice');
-- @later
INSERT INTO shop.orders VALUES (70, 7);

-- @history trigger: a table with triggers and an audit table
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), version INT NOT NULL DEFAULT 0);
CREATE TABLE shop.audit (n INT AUTO_INCREMENT PRIMARY KEY, id INT, status VARCHAR(20));
CREATE TRIGGER shop.before_update BEFORE UPDATE ON shop.orders FOR EACH ROW SET NEW.version = OLD.version + 1;
CREATE TRIGGER shop.after_update AFTER UPDATE ON shop.orders FOR EACH ROW INSERT INTO shop.audit (id, status) VALUES (OLD.id, OLD.status);
INSERT INTO shop.orders (id, status) VALUES (1, 'paid'), (2, 'open');
-- @bad
UPDATE shop.orders SET status = 'void';
-- @later
INSERT INTO shop.orders (id, status) VALUES (3, 'open');

-- @history case: tables whose names differ in case only
-- @tables shop.Orders
-- @setup
CREATE TABLE shop.Orders (id INT PRIMARY KEY, total INT);
CREATE TABLE shop.orders (id INT PRIMARY KEY, total INT);
INSERT INTO shop.Orders VALUES (1, 1), (2, 2);
INSERT INTO shop.orders VALUES (1, 7), (60, 6);
-- @bad
UPDATE shop.Orders SET total = 0;
-- @later
DELETE FROM shop.orders WHERE id = 60;

-- @history json: JSON documents, a part of each changed
-- @tables shop.item
-- @setup
CREATE TABLE shop.item (id INT PRIMARY KEY, doc JSON);
INSERT INTO shop.item VALUES (1, '{"a": 1, "b": [1, 2.50, "x\\"y"], "c": null}'), (2, '[]'), (3, NULL);
-- @bad
UPDATE shop.item SET doc = JSON_SET(doc, '$.a', 2, '$.n', 'new');
-- @later
INSERT INTO shop.item VALUES (4, '{}');

-- @history partial-json: the same with a log that has the parts only
-- @only mysql
-- @tables shop.item
-- @setup
CREATE TABLE shop.item (id INT PRIMARY KEY, doc JSON);
INSERT INTO shop.item VALUES (1, '{"a": "some text", "b": [1, 2, 3]}'), (2, '{"a": "another text"}');
-- @bad
SET SESSION binlog_row_value_options = PARTIAL_JSON;
UPDATE shop.item SET doc = JSON_SET(doc, '$.a', 'short');
-- @later
INSERT INTO shop.item VALUES (4, '{}');

-- @history float-key: a key of type FLOAT
-- @tables shop.reading
-- @setup
CREATE TABLE shop.reading (at FLOAT PRIMARY KEY, v DOUBLE);
INSERT INTO shop.reading VALUES (0.1, 0.1), (16777.217, 1e300), (3.3333333, -0.0);
-- @bad
UPDATE shop.reading SET v = v + 1;
-- @later
INSERT INTO shop.reading VALUES (9, 9);

-- @history generated: stored and virtual generated columns
-- @tables shop.line
-- @setup
CREATE TABLE shop.line (id INT PRIMARY KEY, n INT, price INT, total INT AS (n * price) STORED, twice INT AS (n * 2) VIRTUAL);
INSERT INTO shop.line (id, n, price) VALUES (1, 2, 50), (2, 3, 7);
-- @bad
DELETE FROM shop.line;
-- @later
INSERT INTO shop.line (id, n, price) VALUES (3, 1, 1);

-- @history no-key: a table without a key, with equal rows
-- @tables shop.event
-- @setup
CREATE TABLE shop.event (kind VARCHAR(10), n INT);
INSERT INTO shop.event VALUES ('a', 1), ('a', 1), ('b', 2);
-- @bad
UPDATE shop.event SET n = 0 WHERE kind = 'a';
-- @later
INSERT INTO shop.event VALUES ('c', 3);

-- @history column-since: a column was added since
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20));
INSERT INTO shop.orders VALUES (1, 'paid'), (2, 'open');
-- @bad
UPDATE shop.orders SET status = 'void';
-- @later
ALTER TABLE shop.orders ADD COLUMN note VARCHAR(10) DEFAULT 'x';

-- @history enum-since: members of an ENUM changed places since
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status ENUM('open', 'paid', 'void'));
INSERT INTO shop.orders VALUES (1, 'paid'), (2, 'open');
-- @bad
UPDATE shop.orders SET status = 'void';
-- @later
ALTER TABLE shop.orders MODIFY status ENUM('void', 'open', 'paid');

-- @history minimal: binlog_row_image = MINIMAL
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), total INT);
INSERT INTO shop.orders VALUES (1, 'paid', 1), (2, 'open', 2);
-- @bad
SET SESSION binlog_row_image = MINIMAL;
UPDATE shop.orders SET status = 'void';
-- @later
INSERT INTO shop.orders VALUES (3, 'open', 3);

-- @history compressed: a compressed log
-- @only mariadb
-- @tables shop.note
-- @setup
SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10;
CREATE TABLE shop.note (id INT PRIMARY KEY, body TEXT);
INSERT INTO shop.note VALUES (1, REPEAT('ab', 400)), (2, REPEAT('cd', 400));
-- @bad
DELETE FROM shop.note;
-- @later
INSERT INTO shop.note VALUES (3, REPEAT('ef', 400));
SET GLOBAL log_bin_compress = OFF;

-- @history compressed: a compressed log
-- @only mysql
-- @tables shop.note
-- @setup
SET SESSION binlog_transaction_compression = ON;
CREATE TABLE shop.note (id INT PRIMARY KEY, body TEXT);
INSERT INTO shop.note VALUES (1, REPEAT('ab', 400)), (2, REPEAT('cd', 400));
-- @bad
SET SESSION binlog_transaction_compression = ON;
DELETE FROM shop.note;
-- @later
INSERT INTO shop.note VALUES (3, REPEAT('ef', 400));

-- @history unique-swap: values of a second unique key went round
-- @tables shop.seat
-- @setup
CREATE TABLE shop.seat (id INT PRIMARY KEY, place INT UNIQUE);
INSERT INTO shop.seat VALUES (1, 10), (2, 20), (3, 30);
-- @bad
START TRANSACTION;
UPDATE shop.seat SET place = 99 WHERE id = 1;
UPDATE shop.seat SET place = 10 WHERE id = 2;
UPDATE shop.seat SET place = 20 WHERE id = 3;
UPDATE shop.seat SET place = 30 WHERE id = 1;
COMMIT;
-- @later
INSERT INTO shop.seat VALUES (4, 40);

-- @history on-update: a column with ON UPDATE CURRENT_TIMESTAMP
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), changed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP);
INSERT INTO shop.orders VALUES (1, 'paid', '2026-01-01 00:00:00'), (2, 'open', '2026-01-02 00:00:00');
-- @bad
UPDATE shop.orders SET status = 'void', changed_at = changed_at;
-- @later
INSERT INTO shop.orders VALUES (3, 'open', '2026-01-03 00:00:00');

-- @history xa: a two-phase transaction (XA)
-- @tables shop.account
-- @setup
CREATE TABLE shop.account (id INT PRIMARY KEY, balance INT);
INSERT INTO shop.account VALUES (1, 100), (2, 50);
-- @bad
XA START 'x';
UPDATE shop.account SET balance = 0;
XA END 'x';
XA PREPARE 'x';
XA COMMIT 'x';
-- @later
INSERT INTO shop.account VALUES (3, 1);

-- @history partition: rows that moved to another partition
-- @tables shop.sale
-- @setup
CREATE TABLE shop.sale (id INT, year INT, v INT, PRIMARY KEY (id, year)) PARTITION BY RANGE (year)
  (PARTITION p1 VALUES LESS THAN (2025), PARTITION p2 VALUES LESS THAN MAXVALUE);
INSERT INTO shop.sale VALUES (1, 2020, 1), (2, 2024, 2), (3, 2026, 3);
-- @bad
UPDATE shop.sale SET year = 2026;
-- @later
INSERT INTO shop.sale VALUES (4, 2026, 4);

-- @history summer: times in the hour that the clock has twice
-- @tables shop.shift
-- @setup
CREATE TABLE shop.shift (id INT PRIMARY KEY, begins TIMESTAMP NULL, who VARCHAR(10));
SET SESSION time_zone = '+00:00';
INSERT INTO shop.shift VALUES (1, '2026-10-25 00:30:00', 'Ada'), (2, '2026-10-25 01:30:00', 'Bob'), (3, '2026-10-25 03:30:00', 'Cy');
-- @bad
DELETE FROM shop.shift;
-- @later
INSERT INTO shop.shift VALUES (4, '2026-11-01 12:00:00', 'Di');

-- @history two-tables: a transaction that changed two tables
-- @tables shop.orders shop.stock
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, n INT);
CREATE TABLE shop.stock (sku VARCHAR(10) PRIMARY KEY, n INT);
INSERT INTO shop.orders VALUES (1, 1), (2, 2);
INSERT INTO shop.stock VALUES ('a', 10), ('b', 20);
-- @bad
START TRANSACTION;
DELETE FROM shop.orders WHERE id = 1;
UPDATE shop.stock SET n = n + 1;
COMMIT;
-- @later
INSERT INTO shop.orders VALUES (3, 3);

-- @history drop: DROP TABLE
-- @tables shop.orders
-- @setup
CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20));
INSERT INTO shop.orders VALUES (1, 'paid'), (2, 'open');
-- @bad
DROP TABLE shop.orders;
-- @later
CREATE TABLE shop.other (id INT PRIMARY KEY);

-- @history large: 20,000 rows, all changed
-- @tables shop.big
-- @setup
CREATE TABLE shop.big (id INT PRIMARY KEY, k INT, c CHAR(120));
CREATE TABLE shop.digit (d INT PRIMARY KEY);
INSERT INTO shop.digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO shop.big SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d, a.d, REPEAT('x', 100)
  FROM shop.digit a, shop.digit b, shop.digit c, shop.digit e, shop.digit f WHERE f.d < 2;
-- @bad
UPDATE shop.big SET c = 'lost';
-- @later
INSERT INTO shop.big VALUES (900000, 1, 'new');
