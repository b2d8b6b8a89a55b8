"""Sessions of PyMySQL: HOST PORT USER PASSWORD SCHEMA; encrypted if SESSIONS_ENCRYPT is there."""
import os
import ssl
import sys

import pymysql

host, port, user, password, schema = sys.argv[1:6]
encryption = {}
if "SESSIONS_ENCRYPT" in os.environ:
    # The proxy signs its own certificate.
    encryption["ssl"] = ssl._create_unverified_context()


def connect(**more):
    return pymysql.connect(
        host=host, port=int(port), user=user, password=password, database=schema, autocommit=True,
        **encryption, **more)


one = connect(charset="utf8mb4", client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)
with one.cursor() as cursor:
    cursor.execute("INSERT INTO item VALUES (%s, %s)", (11, "caf\u00e9 \U0001f600\r\n"))
    cursor.executemany("INSERT INTO item VALUES (%s, %s)", [(12, "two"), (13, "it's")])
    cursor.execute("SELECT id FROM item; SELECT 2")
    while cursor.nextset():
        cursor.fetchall()
    one.begin()
    cursor.execute("UPDATE item SET name = %s WHERE id = 12", ("# a comment?\n# Time: now",))
    one.commit()
    one.select_db("other")
    cursor.execute("SELECT 'of the other schema'")
    try:
        one.select_db("nowhere")
    except pymysql.err.OperationalError as error:
        assert error.args[0] in (1044, 1049), error
    cursor.execute("SELECT 'still there'")
with pymysql.connect(
        host=host, port=int(port), user=user, password=password, database=schema, charset="utf8mb4",
        **encryption, cursorclass=pymysql.cursors.SSCursor).cursor() as cursor:
    cursor.execute("SELECT id, name FROM item")
    cursor.fetchall()
one.close()

two = connect(charset="gbk")
with two.cursor() as cursor:
    cursor.execute("SELECT LENGTH('\u7e17')")
    assert cursor.fetchall()[0][0] == 2
two.close()
