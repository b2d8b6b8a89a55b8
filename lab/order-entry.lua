-- Order entry as a script for sysbench: the tables and transactions of `weir load order_entry`.
--
-- Written from the public specification of TPC-C (revision 5.11) and derived from it. Nothing here was audited, and
-- results are not comparable with audited ones. `make bench-order` compares the native workload with this script;
-- `weir load order_entry check` checks its tables, too.

sysbench.cmdline.options = {
  warehouses = {"Warehouses, of ten districts each", 1},
  items = {"Items, and stocks of a warehouse", 100000},
  customers = {"Customers of a district, and its orders when it is loaded", 3000},
}

local DISTRICTS = 10
local LOADED_AT = "2026-01-01 00:00:00"
local LETTERS = string.rep("@", 500)

-- Tables, those that others need before them.
local TABLES = {
  {"warehouse", [[w_id INT NOT NULL, w_name VARCHAR(10) NOT NULL, w_street_1 VARCHAR(20) NOT NULL,
    w_street_2 VARCHAR(20) NOT NULL, w_city VARCHAR(20) NOT NULL, w_state CHAR(2) NOT NULL,
    w_zip CHAR(9) NOT NULL, w_tax DECIMAL(4,4) NOT NULL, w_ytd DECIMAL(12,2) NOT NULL,
    PRIMARY KEY (w_id)]]},
  {"district", [[d_id TINYINT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10) NOT NULL,
    d_street_1 VARCHAR(20) NOT NULL, d_street_2 VARCHAR(20) NOT NULL, d_city VARCHAR(20) NOT NULL,
    d_state CHAR(2) NOT NULL, d_zip CHAR(9) NOT NULL, d_tax DECIMAL(4,4) NOT NULL,
    d_ytd DECIMAL(12,2) NOT NULL, d_next_o_id INT NOT NULL, PRIMARY KEY (d_w_id, d_id)]]},
  {"item", [[i_id INT NOT NULL, i_im_id INT NOT NULL, i_name VARCHAR(24) NOT NULL,
    i_price DECIMAL(5,2) NOT NULL, i_data VARCHAR(50) NOT NULL, PRIMARY KEY (i_id)]]},
  {"customer", [[c_id INT NOT NULL, c_d_id TINYINT NOT NULL, c_w_id INT NOT NULL,
    c_first VARCHAR(16) NOT NULL, c_middle CHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL,
    c_street_1 VARCHAR(20) NOT NULL, c_street_2 VARCHAR(20) NOT NULL, c_city VARCHAR(20) NOT NULL,
    c_state CHAR(2) NOT NULL, c_zip CHAR(9) NOT NULL, c_phone CHAR(16) NOT NULL,
    c_since DATETIME NOT NULL, c_credit CHAR(2) NOT NULL, c_credit_lim DECIMAL(12,2) NOT NULL,
    c_discount DECIMAL(4,4) NOT NULL, c_balance DECIMAL(12,2) NOT NULL,
    c_ytd_payment DECIMAL(12,2) NOT NULL, c_payment_cnt INT NOT NULL, c_delivery_cnt INT NOT NULL,
    c_data VARCHAR(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id),
    INDEX customer_name (c_w_id, c_d_id, c_last, c_first)]]},
  {"history", [[h_c_id INT NOT NULL, h_c_d_id TINYINT NOT NULL, h_c_w_id INT NOT NULL,
    h_d_id TINYINT NOT NULL, h_w_id INT NOT NULL, h_date DATETIME NOT NULL,
    h_amount DECIMAL(6,2) NOT NULL, h_data VARCHAR(24) NOT NULL]]},
  {"stock", [[s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity SMALLINT NOT NULL,
    s_dist_01 CHAR(24) NOT NULL, s_dist_02 CHAR(24) NOT NULL, s_dist_03 CHAR(24) NOT NULL,
    s_dist_04 CHAR(24) NOT NULL, s_dist_05 CHAR(24) NOT NULL, s_dist_06 CHAR(24) NOT NULL,
    s_dist_07 CHAR(24) NOT NULL, s_dist_08 CHAR(24) NOT NULL, s_dist_09 CHAR(24) NOT NULL,
    s_dist_10 CHAR(24) NOT NULL, s_ytd INT NOT NULL, s_order_cnt INT NOT NULL,
    s_remote_cnt INT NOT NULL, s_data VARCHAR(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id)]]},
  {"orders", [[o_id INT NOT NULL, o_d_id TINYINT NOT NULL, o_w_id INT NOT NULL, o_c_id INT NOT NULL,
    o_entry_d DATETIME NOT NULL, o_carrier_id TINYINT, o_ol_cnt TINYINT NOT NULL,
    o_all_local TINYINT NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id),
    INDEX orders_customer (o_w_id, o_d_id, o_c_id, o_id)]]},
  {"new_order", [[no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id INT NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id)]]},
  {"order_line", [[ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id INT NOT NULL,
    ol_number TINYINT NOT NULL, ol_i_id INT NOT NULL, ol_supply_w_id INT NOT NULL,
    ol_delivery_d DATETIME, ol_quantity TINYINT NOT NULL, ol_amount DECIMAL(6,2) NOT NULL,
    ol_dist_info CHAR(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)]]},
}

-- Random values ------------------------------------------------------------------------------------------------------

local function between(first, last)
  return sysbench.rand.uniform(first, last)
end

local function happens(percent)
  return between(1, 100) <= percent
end

local function text(least, most)
  local length = most and between(least, most) or least
  return sysbench.rand.string(string.sub(LETTERS, 1, length))
end

-- The constants of the uneven distribution (clause 2.1.6), one for each run.
local constants

local function uneven(a, c, first, last)
  return (bit.bor(between(0, a), between(first, last)) + c) % (last - first + 1) + first
end

local function any_customer()
  return uneven(1023, constants.customer, 1, sysbench.opt.customers)
end

local function any_item()
  return uneven(8191, constants.item, 1, sysbench.opt.items)
end

local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

local function last_name(number)
  local digit = function(of) return SYLLABLES[math.floor(number / of) % 10 + 1] end
  return digit(100) .. digit(10) .. digit(1)
end

local function any_last_name(c)
  return last_name(uneven(255, c, 0, math.min(sysbench.opt.customers, 1000) - 1))
end

-- Tables -------------------------------------------------------------------------------------------------------------

local function address()
  return string.format("'%s', '%s', '%s', '%s', '%04d11111'", text(10, 20), text(10, 20), text(10, 20),
    text(2), between(0, 9999))
end

local function data()
  local made = text(26, 50)
  if not happens(10) then
    return made
  end
  local start = between(0, #made - 8)
  return string.sub(made, 1, start) .. "ORIGINAL" .. string.sub(made, start + 9)
end

local function tax()
  return between(0, 2000) / 10000
end

-- Inserts the rows that `make` gives to its argument.
local function fill(con, table_name, make)
  con:bulk_insert_init("INSERT INTO " .. table_name .. " VALUES")
  make(function(...) con:bulk_insert_next(string.format(...)) end)
  con:bulk_insert_done()
end

local function load_items(con)
  fill(con, "item", function(row)
    for item = 1, sysbench.opt.items do
      row("(%d, %d, '%s', %.2f, '%s')", item, between(1, 10000), text(14, 24), between(100, 10000) / 100, data())
    end
  end)
end

local function load_stock(con, warehouse)
  fill(con, "stock", function(row)
    for item = 1, sysbench.opt.items do
      local districts = {}
      for district = 1, DISTRICTS do
        districts[district] = text(24)
      end
      row("(%d, %d, %d, '%s', 0, 0, 0, '%s')", item, warehouse, between(10, 100),
        table.concat(districts, "', '"), data())
    end
  end)
end

local function load_customers(con, warehouse, district)
  fill(con, "customer", function(row)
    for customer = 1, sysbench.opt.customers do
      local name = customer <= 1000 and last_name(customer - 1) or any_last_name(100)
      row("(%d, %d, %d, '%s', 'OE', '%s', %s, '%s', '%s', '%s', 50000, %.4f, -10, 10, 1, 0, '%s')", customer,
        district, warehouse, text(8, 16), name, address(), sysbench.rand.string("################"), LOADED_AT,
        happens(10) and "BC" or "GC", between(0, 5000) / 10000, text(300, 500))
    end
  end)
  fill(con, "history", function(row)
    for customer = 1, sysbench.opt.customers do
      row("(%d, %d, %d, %d, %d, '%s', 10, '%s')", customer, district, warehouse, district, warehouse, LOADED_AT,
        text(12, 24))
    end
  end)
end

-- The customers of a district in any order.
local function shuffled()
  local all = {}
  for customer = 1, sysbench.opt.customers do
    all[customer] = customer
  end
  for last = #all, 2, -1 do
    local other = between(1, last)
    all[last], all[other] = all[other], all[last]
  end
  return all
end

local function load_orders(con, warehouse, district)
  local customers, lines = shuffled(), {}
  local delivered = math.floor(sysbench.opt.customers * 7 / 10)
  fill(con, "orders", function(row)
    for order, customer in ipairs(customers) do
      lines[order] = between(5, 15)
      row("(%d, %d, %d, %d, '%s', %s, %d, 1)", order, district, warehouse, customer, LOADED_AT,
        order <= delivered and between(1, 10) or "NULL", lines[order])
    end
  end)
  fill(con, "new_order", function(row)
    for order = delivered + 1, #customers do
      row("(%d, %d, %d)", order, district, warehouse)
    end
  end)
  fill(con, "order_line", function(row)
    for order = 1, #customers do
      local is_delivered = order <= delivered
      for line = 1, lines[order] do
        row("(%d, %d, %d, %d, %d, %d, %s, 5, %.2f, '%s')", order, district, warehouse, line,
          between(1, sysbench.opt.items), warehouse, is_delivered and "'" .. LOADED_AT .. "'" or "NULL",
          is_delivered and 0 or between(1, 999999) / 100, text(24))
      end
    end
  end)
end

local function load_warehouse(con, warehouse)
  local customers = sysbench.opt.customers
  con:query(string.format("INSERT INTO warehouse VALUES (%d, '%s', %s, %.4f, %d)", warehouse, text(6, 10), address(),
    tax(), DISTRICTS * customers * 10))
  load_stock(con, warehouse)
  for district = 1, DISTRICTS do
    con:query(string.format("INSERT INTO district VALUES (%d, %d, '%s', %s, %.4f, %d, %d)", district, warehouse,
      text(6, 10), address(), tax(), customers * 10, customers + 1))
    load_customers(con, warehouse, district)
    load_orders(con, warehouse, district)
  end
end

-- Each thread loads warehouses of its own.
local function prepare()
  local con = sysbench.sql.driver():connect()
  for _, made in ipairs(TABLES) do
    con:query("CREATE TABLE IF NOT EXISTS " .. made[1] .. " (" .. made[2] ..
      ") ENGINE = InnoDB DEFAULT CHARSET = latin1")
  end
  if sysbench.tid % sysbench.opt.threads == 0 then
    load_items(con)
  end
  for warehouse = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.warehouses, sysbench.opt.threads do
    load_warehouse(con, warehouse)
  end
end

local function cleanup()
  local con = sysbench.sql.driver():connect()
  for index = #TABLES, 1, -1 do
    con:query("DROP TABLE IF EXISTS " .. TABLES[index][1])
  end
end

sysbench.cmdline.commands = {
  prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND},
  cleanup = {cleanup},
}

-- Transactions -------------------------------------------------------------------------------------------------------

local con
-- A transaction was begun and has not ended: an error ended the last event.
local is_open = false

local function run(...)
  return con:query(string.format(...))
end

-- All rows of an answer, so that the connection is free for the next statement.
local function rows(...)
  local result = con:query(string.format(...))
  local all = {}
  for index = 1, result.nrows do
    all[index] = result:fetch_row()
  end
  result:free()
  return all
end

local function begin()
  if is_open then
    con:query("ROLLBACK")
  end
  con:query("BEGIN")
  is_open = true
end

local function finish(statement)
  con:query(statement)
  is_open = false
end

-- Where a row of a table is whose columns begin with `prefix`.
local function key(prefix, warehouse, district, column, number)
  return string.format("%s_w_id = %d AND %s_d_id = %d AND %s_%s = %d", prefix, warehouse, prefix, district, prefix,
    column, number)
end

local function any_warehouse()
  return between(1, sysbench.opt.warehouses)
end

-- Another warehouse in so many of a hundred cases, if there is one.
local function supplier(warehouse, percent)
  local is_remote = happens(percent)
  if not is_remote or sysbench.opt.warehouses == 1 then
    return warehouse
  end
  local other = between(1, sysbench.opt.warehouses - 1)
  return other < warehouse and other or other + 1
end

local function new_order()
  local warehouse, district = any_warehouse(), between(1, DISTRICTS)
  local customer, count = any_customer(), between(5, 15)
  local lines, items, all_local = {}, {}, 1
  for line = 1, count do
    lines[line] = {item = any_item(), warehouse = supplier(warehouse, 1), quantity = between(1, 10)}
  end
  local is_wrong = happens(1)
  if is_wrong then
    lines[count].item = sysbench.opt.items + 1
  end
  for line = 1, count do
    items[line] = lines[line].item
    all_local = lines[line].warehouse == warehouse and all_local or 0
  end
  begin()
  local order = tonumber(rows("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %d AND d_id = %d FOR UPDATE",
    warehouse, district)[1][1])
  run("UPDATE district SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d", order + 1, warehouse, district)
  rows("SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse " ..
    "WHERE w_id = c_w_id AND c_w_id = %d AND c_d_id = %d AND c_id = %d", warehouse, district, customer)
  run("INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) " ..
    "VALUES (%d, %d, %d, %d, NOW(), %d, %d)", order, district, warehouse, customer, count, all_local)
  run("INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (%d, %d, %d)", order, district, warehouse)
  local prices = {}
  for _, row in ipairs(rows("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN (%s)",
    table.concat(items, ", "))) do
    prices[tonumber(row[1])] = tonumber(row[2])
  end
  if is_wrong then
    table.remove(lines)
  end
  local wanted, stocks, inserted = {}, {}, {}
  for number, line in ipairs(lines) do
    wanted[number] = string.format("(s_w_id = %d AND s_i_id = %d)", line.warehouse, line.item)
  end
  for _, row in ipairs(rows("SELECT s_w_id, s_i_id, s_quantity, s_data, ELT(%d, s_dist_01, s_dist_02, s_dist_03, " ..
    "s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10) FROM stock WHERE %s FOR UPDATE",
    district, table.concat(wanted, " OR "))) do
    stocks[row[1] .. "/" .. row[2]] = {quantity = tonumber(row[3]), place = row[5]}
  end
  for number, line in ipairs(lines) do
    local stock = stocks[line.warehouse .. "/" .. line.item]
    local rest = stock.quantity - line.quantity
    stock.quantity = rest >= 10 and rest or rest + 91
    run("UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1, " ..
      "s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d", stock.quantity, line.quantity,
      line.warehouse == warehouse and 0 or 1, line.warehouse, line.item)
    inserted[number] = string.format("(%d, %d, %d, %d, %d, %d, %d, %.2f, '%s')", order, district, warehouse, number,
      line.item, line.warehouse, line.quantity, prices[line.item] * line.quantity, stock.place)
  end
  run("INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, " ..
    "ol_amount, ol_dist_info) VALUES %s", table.concat(inserted, ", "))
  finish(is_wrong and "ROLLBACK" or "COMMIT")
end

-- The customer in the middle of those of a name, or one by number; `columns` of them.
local function customer_of(columns, warehouse, district)
  local place = string.format("c_w_id = %d AND c_d_id = %d", warehouse, district)
  if happens(60) then
    local found = rows("SELECT c_id%s FROM customer WHERE %s AND c_last = '%s' ORDER BY c_first", columns, place,
      any_last_name(constants.last_name))
    return tonumber(found[math.ceil(#found / 2)][1]), true
  end
  return any_customer(), false
end

local function payment()
  local warehouse, district = any_warehouse(), between(1, DISTRICTS)
  local customer_warehouse = supplier(warehouse, 15)
  local customer_district = customer_warehouse == warehouse and district or between(1, DISTRICTS)
  local amount = string.format("%.2f", between(100, 500000) / 100)
  begin()
  run("UPDATE warehouse SET w_ytd = w_ytd + %s WHERE w_id = %d", amount, warehouse)
  local seller = rows("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = %d",
    warehouse)[1]
  run("UPDATE district SET d_ytd = d_ytd + %s WHERE d_w_id = %d AND d_id = %d", amount, warehouse, district)
  local branch = rows("SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district " ..
    "WHERE d_w_id = %d AND d_id = %d", warehouse, district)[1]
  local customer = customer_of("", customer_warehouse, customer_district)
  local place = key("c", customer_warehouse, customer_district, "id", customer)
  local payer = rows("SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, " ..
    "c_phone, c_since, c_credit_lim, c_discount, c_balance, IF(c_credit = 'BC', LEFT(c_data, 200), '') " ..
    "FROM customer WHERE %s FOR UPDATE", place)[1]
  local note = ""
  if payer[1] == "BC" then
    note = string.format(", c_data = LEFT(CONCAT('%d %d %d %d %d %s ', c_data), 500)", customer, customer_district,
      customer_warehouse, district, warehouse, amount)
  end
  run("UPDATE customer SET c_balance = c_balance - %s, c_ytd_payment = c_ytd_payment + %s, " ..
    "c_payment_cnt = c_payment_cnt + 1%s WHERE %s", amount, amount, note, place)
  run("INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) " ..
    "VALUES (%d, %d, %d, %d, %d, NOW(), %s, '%s    %s')", customer, customer_district, customer_warehouse, district,
    warehouse, amount, seller[1], branch[1])
  finish("COMMIT")
end

local function order_status()
  local warehouse, district = any_warehouse(), between(1, DISTRICTS)
  begin()
  local customer, is_read = customer_of(", c_balance, c_first, c_middle", warehouse, district)
  if not is_read then
    rows("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE %s",
      key("c", warehouse, district, "id", customer))
  end
  local order = rows("SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE %s ORDER BY o_id DESC LIMIT 1",
    key("o", warehouse, district, "c_id", customer))[1][1]
  rows("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE %s",
    key("ol", warehouse, district, "o_id", tonumber(order)))
  finish("COMMIT")
end

local function delivery()
  local warehouse, carrier = any_warehouse(), between(1, 10)
  begin()
  for district = 1, DISTRICTS do
    local oldest = rows("SELECT no_o_id FROM new_order WHERE no_w_id = %d AND no_d_id = %d " ..
      "ORDER BY no_o_id LIMIT 1 FOR UPDATE", warehouse, district)[1]
    if oldest then
      local order = tonumber(oldest[1])
      local lines = key("ol", warehouse, district, "o_id", order)
      run("DELETE FROM new_order WHERE %s", key("no", warehouse, district, "o_id", order))
      run("UPDATE orders SET o_carrier_id = %d WHERE %s", carrier, key("o", warehouse, district, "id", order))
      local customer = rows("SELECT o_c_id FROM orders WHERE %s", key("o", warehouse, district, "id", order))[1][1]
      run("UPDATE order_line SET ol_delivery_d = NOW() WHERE %s", lines)
      local amount = rows("SELECT SUM(ol_amount) FROM order_line WHERE %s", lines)[1][1]
      run("UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 WHERE %s", amount,
        key("c", warehouse, district, "id", tonumber(customer)))
    end
  end
  finish("COMMIT")
end

local function stock_level()
  local warehouse, district, threshold = any_warehouse(), between(1, DISTRICTS), between(10, 20)
  begin()
  local next_order = tonumber(rows("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d", warehouse,
    district)[1][1])
  rows("SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %d AND ol_d_id = %d " ..
    "AND ol_o_id >= %d AND ol_o_id < %d AND s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d", warehouse,
    district, next_order - 20, next_order, warehouse, threshold)
  finish("COMMIT")
end

function thread_init()
  con = sysbench.sql.driver():connect()
  constants = {last_name = 223, customer = 259, item = 7911}
end

function thread_done()
  con:disconnect()
end

function event()
  local point = between(1, 100)
  if point <= 45 then
    new_order()
  elseif point <= 88 then
    payment()
  elseif point <= 92 then
    order_status()
  elseif point <= 96 then
    delivery()
  else
    stock_level()
  end
end
