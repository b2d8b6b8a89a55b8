"""Prints the statements with which binlog2sql undoes a part of a binary log.

binlog2sql itself is no package. Its functions are one, binlog2sql-util; what it does around them is read the log as a
replica and print the statements in reverse order, as here.

    binlog2sql.py OPTION_FILE LOG START STOP TABLE...
"""

import sys

import pymysql
from binlog2sql_util import concat_sql_from_binlog_event, is_dml_event
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

options, log, start, stop, *tables = sys.argv[1:]
settings = {"read_default_file": options, "charset": "utf8mb4"}
stream = BinLogStreamReader(
    connection_settings=settings,
    server_id=4711,
    log_file=log,
    log_pos=int(start),
    resume_stream=True,
    only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent],
    only_schemas=[table.split(".")[0] for table in tables],
    only_tables=[table.split(".")[1] for table in tables],
)
statements = []
with pymysql.connect(**settings).cursor() as cursor:
    for event in stream:
        if event.packet.log_pos > int(stop):
            break
        if is_dml_event(event):
            statements += [concat_sql_from_binlog_event(cursor, event, row=row, flashback=True) for row in event.rows]
print("\n".join(reversed(statements)))
