//! A suite of several files as people have them: parallel loading in which threads wait for each other,
//! transactions that roll back on purpose, and checks of its own.

use weir_model::Flavor;

use crate::beside::Bench;

const SHOP: &str = r#"
sysbench.cmdline.options = {
  items = { "Items", 200 },
  rollbacks = { "Percent of orders that are given up", 10 },
}
ffi.cdef("int usleep(unsigned);")

local shop = {}

function shop.connect()
  local con = sysbench.sql.driver():connect()
  con:query("SET SESSION innodb_lock_wait_timeout = 20")
  return con
end

-- The first thread makes the tables; the others sleep until they are there.
function shop.load()
  local con = shop.connect()
  if sysbench.tid == 0 then
    con:query("CREATE TABLE item (id INT PRIMARY KEY, stock INT NOT NULL, sold INT NOT NULL DEFAULT 0)")
    con:query("CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, thread INT, lines_made INT)")
    con:query("CREATE TABLE line (order_id BIGINT, item INT, amount INT, KEY (order_id))")
    con:query("CREATE TABLE ready (id INT PRIMARY KEY)")
  end
  local there = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'ready'"
  while tonumber((con:query_row(there))) == 0 do ffi.C.usleep(10000) end
  con:bulk_insert_init("INSERT INTO item (id, stock) VALUES")
  for id = 1 + sysbench.tid, sysbench.opt.items, sysbench.opt.threads do
    con:bulk_insert_next(string.format("(%d, %d)", id, 1000000))
  end
  con:bulk_insert_done()
  con:query("INSERT INTO ready VALUES (" .. sysbench.tid .. ")")
  while tonumber((con:query_row("SELECT COUNT(*) FROM ready"))) < sysbench.opt.threads do ffi.C.usleep(10000) end
end

function shop.check()
  local con = shop.connect()
  local function equal(what, one, other)
    print(what, con:query_row(one) == con:query_row(other) and "holds" or "BROKEN")
  end
  print("items", (con:query_row("SELECT COUNT(*) FROM item")))
  equal("sold", "SELECT COALESCE(SUM(sold), 0) FROM item", "SELECT COALESCE(SUM(amount), 0) FROM line")
  equal("stock", "SELECT COUNT(*) * 1000000 FROM item", "SELECT SUM(stock + sold) FROM item")
  equal("lines", "SELECT COALESCE(SUM(lines_made), 0) FROM orders", "SELECT COUNT(*) FROM line")
  equal("orphans", "SELECT COUNT(*) FROM line LEFT JOIN orders ON orders.id = order_id WHERE orders.id IS NULL", "SELECT 0")
  for _, name in ipairs({ "item", "orders", "line", "ready" }) do con:query("DROP TABLE " .. name) end
end

sysbench.cmdline.commands = {
  prepare = { shop.load, sysbench.cmdline.PARALLEL_COMMAND },
  check = { shop.check },
}
return shop
"#;

const ORDERS: &str = r#"
local shop = require("shop")
local types = sysbench.sql.type

function thread_init()
  con = shop.connect()
  take = con:prepare("UPDATE item SET stock = stock - ?, sold = sold + ? WHERE id = ? AND stock >= ?")
  parameters = {}
  for position = 1, 4 do parameters[position] = take:bind_create(types.INT) end
  take:bind_param(unpack(parameters))
end

function sysbench.hooks.before_restart_event() con:query("ROLLBACK") end

function event()
  con:query("BEGIN")
  local count = sysbench.rand.uniform(1, 5)
  con:query(string.format("INSERT INTO orders (thread, lines_made) VALUES (%d, %d)", sysbench.tid, count))
  local order = con:query_row("SELECT LAST_INSERT_ID()")
  for _ = 1, count do
    local item, amount = sysbench.rand.default(1, sysbench.opt.items), sysbench.rand.uniform(1, 9)
    parameters[1]:set(amount) parameters[2]:set(amount) parameters[3]:set(item) parameters[4]:set(amount)
    take:execute()
    con:query(string.format("INSERT INTO line VALUES (%s, %d, %d)", order, item, amount))
  end
  local given_up = sysbench.rand.uniform(1, 100) <= sysbench.opt.rollbacks
  con:query(given_up and "ROLLBACK" or "COMMIT")
end
"#;

fn a_shop_stays_consistent(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    bench.script("shop.lua", SHOP);
    bench.script("orders.lua", ORDERS);
    let run = "orders.lua --threads=8 --events=400 --time=0";
    let mut checks = Vec::new();
    for driving in ["os", "reactor", "sysbench"] {
        let go = |words: &str| match driving {
            "sysbench" => bench.theirs(words),
            _ => Some(bench.ours(&format!("{words} --lua-threads={driving}"))),
        };
        for words in ["orders.lua --threads=8 prepare", &format!("{run} run")] {
            let Some(done) = go(words) else { return };
            assert_eq!(done.code, Some(0), "{driving} {done:?}");
        }
        let check = go("orders.lua check").unwrap();
        assert_eq!(check.code, Some(0), "{driving} {check:?}");
        assert!(!check.stdout.contains("BROKEN"), "{driving} {check:?}");
        checks.push(check.stdout.lines().skip(1).collect::<Vec<_>>().join("\n"));
    }
    assert!(checks[0].contains("items\t200"), "{checks:?}");
    assert!(checks.iter().all(|check| *check == checks[0]), "{checks:?}");
}

#[test]
fn a_shop_stays_consistent_on_mysql() {
    a_shop_stays_consistent(Flavor::Mysql);
}

#[test]
fn a_shop_stays_consistent_on_mariadb() {
    a_shop_stays_consistent(Flavor::Mariadb);
}
