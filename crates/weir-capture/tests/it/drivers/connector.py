"""Sessions of mysql-connector-python: HOST PORT USER PASSWORD SCHEMA, and `pure` or `c`. It encrypts where it can."""
import sys

import mysql.connector

host, port, user, password, schema, form = sys.argv[1:7]


def connect(**more):
    return mysql.connector.connect(
        host=host, port=int(port), user=user, password=password, database=schema,
        use_pure=form == "pure", autocommit=True, **more)


one = connect(charset="utf8mb4")
cursor = one.cursor()
cursor.execute("INSERT INTO item VALUES (%s, %s)", (1, "caf\u00e9 \U0001f600"))
cursor.executemany("INSERT INTO item VALUES (%s, %s)", [(2, "two"), (3, "it's")])
cursor.execute("SELECT id, name FROM item WHERE id > %s", (0,))
cursor.fetchall()
for result in cursor.execute("SELECT 1; SELECT 2", multi=True):
    result.fetchall()
prepared = one.cursor(prepared=True)
for number in (1, 3):
    prepared.execute("SELECT name FROM item WHERE id = %s", (number,))
    prepared.fetchall()
prepared.execute("UPDATE item SET name = %s WHERE id = %s", ("x" * 70_000, 2))
prepared.close()
one.start_transaction()
cursor.execute("DELETE FROM item WHERE id = 3")
one.rollback()
try:
    cursor.execute("SELECT nothing FROM item")
except mysql.connector.Error as error:
    assert error.errno == 1054, error
try:
    cursor.execute("USE nowhere")
except mysql.connector.Error as error:
    assert error.errno in (1044, 1049), error
cursor.execute("SELECT 'after a failed USE'")
cursor.fetchall()
one.cmd_init_db("other")
cursor.execute("SELECT 'of the other schema'")
cursor.fetchall()
one.cmd_change_user(username=user, password=password, database=schema, charset=45)
cursor = one.cursor()
cursor.execute("SELECT 'changed'")
cursor.fetchall()
one.cmd_reset_connection()
cursor.execute("SELECT 'reset'")
cursor.fetchall()
one.ping()
one.close()

two = connect(charset="latin1")
cursor = two.cursor()
cursor.execute("SELECT 'caf\u00e9', LENGTH('caf\u00e9')")
assert cursor.fetchall()[0][1] == 4
two.close()
