/* Sessions of libmariadb: HOST PORT USER PASSWORD SCHEMA. */
#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **given;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static MYSQL *session(const char *charset, bool is_compressed) {
    MYSQL *one = mysql_init(NULL);
    mysql_options(one, MYSQL_SET_CHARSET_NAME, charset);
    if (is_compressed)
        mysql_options(one, MYSQL_OPT_COMPRESS, NULL);
    if (getenv("SESSIONS_ENCRYPT")) {
        my_bool yes = 1, no = 0;
        mysql_options(one, MYSQL_OPT_SSL_ENFORCE, &yes);
        mysql_options(one, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
    }
    if (!mysql_real_connect(one, given[1], given[3], given[4], given[5], atoi(given[2]), NULL,
                            CLIENT_MULTI_STATEMENTS | CLIENT_LOCAL_FILES))
        fail("login", mysql_error(one));
    return one;
}

static void forget_results(MYSQL *one) {
    do {
        MYSQL_RES *result = mysql_store_result(one);
        if (result)
            mysql_free_result(result);
    } while (mysql_next_result(one) == 0);
}

static void query(MYSQL *one, const char *text) {
    if (mysql_query(one, text))
        fail(text, mysql_error(one));
    forget_results(one);
}

static void refused(MYSQL *one, const char *text) {
    if (!mysql_query(one, text))
        fail(text, "it was not refused");
}

static MYSQL_STMT *prepare(MYSQL *one, const char *text) {
    MYSQL_STMT *statement = mysql_stmt_init(one);
    if (mysql_stmt_prepare(statement, text, strlen(text)))
        fail(text, mysql_stmt_error(statement));
    return statement;
}

static void execute(MYSQL_STMT *statement) {
    if (mysql_stmt_execute(statement))
        fail("execute", mysql_stmt_error(statement));
}

/* Several rows of parameters in one packet, if the server is MariaDB. */
static void bulk(MYSQL *one) {
    MYSQL_STMT *insert = prepare(one, "INSERT INTO item VALUES (?, ?)");
    int ids[] = {503, 504, 505};
    char *names[] = {"it's", "", "caf\xc3\xa9"};
    unsigned long lengths[] = {4, 0, 5};
    char marks[] = {STMT_INDICATOR_NONE, STMT_INDICATOR_NULL, STMT_INDICATOR_NONE};
    MYSQL_BIND values[2] = {{.buffer_type = MYSQL_TYPE_LONG, .buffer = ids},
                            {.buffer_type = MYSQL_TYPE_STRING, .buffer = names, .length = lengths}};
    unsigned int rows = 3;
    values[1].u.indicator = marks;
    mysql_stmt_attr_set(insert, STMT_ATTR_ARRAY_SIZE, &rows);
    mysql_stmt_bind_param(insert, values);
    execute(insert);
    mysql_stmt_close(insert);
}

static void prepared_statements(MYSQL *one) {
    MYSQL_STMT *insert = prepare(one, "INSERT INTO item VALUES (?, ?)");
    int id = 501;
    unsigned long length = 7;
    MYSQL_BIND values[2] = {{.buffer_type = MYSQL_TYPE_LONG, .buffer = &id},
                            {.buffer_type = MYSQL_TYPE_LONG_BLOB, .buffer = "a\\b'\"\n%", .length = &length}};
    mysql_stmt_bind_param(insert, values);
    execute(insert);
    id = 502;
    for (int piece = 0; piece < 9; piece++)
        mysql_stmt_send_long_data(insert, 1, "long data", 9);
    execute(insert);
    mysql_stmt_close(insert);
    MYSQL_STMT *select = prepare(one, "SELECT id FROM item WHERE id > ?");
    unsigned long cursor = CURSOR_TYPE_READ_ONLY, rows = 1;
    mysql_stmt_attr_set(select, STMT_ATTR_CURSOR_TYPE, &cursor);
    mysql_stmt_attr_set(select, STMT_ATTR_PREFETCH_ROWS, &rows);
    id = 500;
    mysql_stmt_bind_param(select, values);
    execute(select);
    int found;
    MYSQL_BIND result = {.buffer_type = MYSQL_TYPE_LONG, .buffer = &found};
    mysql_stmt_bind_result(select, &result);
    while (mysql_stmt_fetch(select) == 0)
        ;
    mysql_stmt_reset(select);
    mysql_stmt_close(select);
}

/* The server ends a session in the middle of its transaction. */
static void killed(void) {
    MYSQL *victim = session("utf8mb4", false), *other = session("utf8mb4", false);
    char text[64];
    query(victim, "BEGIN");
    query(victim, "INSERT INTO item VALUES (599, 'not to stay')");
    snprintf(text, sizeof text, "KILL %lu", mysql_thread_id(victim));
    query(other, text);
    refused(victim, "SELECT 'to nobody'");
    mysql_close(victim);
    mysql_close(other);
}

int main(int count, char **arguments) {
    (void)count;
    given = arguments;
    MYSQL *one = session("utf8mb4", false);
    query(one, "SELECT 1; DO 2; SELECT 3");
    prepared_statements(one);
    bool is_mariadb = mariadb_connection(one);
    if (is_mariadb)
        bulk(one);
    refused(one, "SELECT nothing FROM item");
    if (mysql_change_user(one, given[3], given[4], "other"))
        fail("change of user", mysql_error(one));
    query(one, "SELECT 'of the other schema'");
    if (mysql_reset_connection(one))
        fail("reset", mysql_error(one));
    query(one, "SELECT 'reset'");
    mysql_close(one);
    one = session("gbk", true);
    query(one, "SELECT '\xbf\x5c'");
    mysql_close(one);
    killed();
    return 0;
}
