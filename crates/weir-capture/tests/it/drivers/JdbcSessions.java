// Sessions of Connector/J and of MariaDB Connector/J: HOST PORT USER PASSWORD SCHEMA FORM; encrypted if
// SESSIONS_ENCRYPT is there.

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.Properties;

class JdbcSessions {
    private final String url;
    private final Properties account = new Properties();
    private final boolean isMariadb;

    JdbcSessions(String[] given) {
        isMariadb = given[5].equals("mariadb");
        url = "jdbc:" + given[5] + "://" + given[0] + ":" + given[1] + "/" + given[4] + "?allowPublicKeyRetrieval=true";
        account.setProperty("user", given[2]);
        account.setProperty("password", given[3]);
    }

    public static void main(String[] given) throws Exception {
        var sessions = new JdbcSessions(given);
        int id = 200;
        // Batches as they are, and as the driver rewrites them; texts, and statements that the server prepares.
        for (String rewritten : new String[] {"false", "true"}) {
            for (String prepared : new String[] {"false", "true"}) {
                sessions.changes(id, "&rewriteBatchedStatements=" + rewritten + "&useServerPrepStmts=" + prepared);
                id += 50;
            }
        }
        sessions.rows();
        sessions.files();
        sessions.handedOn(given);
        sessions.charsets();
    }

    private Connection open(String options) throws SQLException {
        return DriverManager.getConnection(url + encryption() + options, account);
    }

    /** The proxy signs its own certificate. */
    private String encryption() {
        boolean encrypts = System.getenv("SESSIONS_ENCRYPT") != null;
        if (isMariadb) {
            return encrypts ? "&sslMode=trust" : "&sslMode=disable";
        }
        return encrypts ? "&sslMode=REQUIRED" : "&sslMode=DISABLED";
    }

    private static void refused(Statement statement, String text) throws SQLException {
        try {
            statement.execute(text);
        } catch (SQLException error) {
            return;
        }
        throw new SQLException("it was not refused: " + text);
    }

    private void changes(int id, String options) throws SQLException {
        try (Connection one = open(options)) {
            try (PreparedStatement insert = one.prepareStatement("INSERT INTO item VALUES (?, ?)")) {
                for (String name : new String[] {"it's", "caf\u00e9 \ud83d\ude00\r\n", null, "x".repeat(70_000), "\\"}) {
                    insert.setInt(1, id++);
                    insert.setString(2, name);
                    insert.addBatch();
                }
                insert.executeBatch();
                insert.setInt(1, id++);
                insert.setBinaryStream(2, new ByteArrayInputStream("long data".repeat(9000).getBytes()));
                insert.execute();
            }
            String[] texts = {"UPDATE item SET name = 'a' WHERE id = 1", "DO 1", "DELETE FROM item WHERE id = 1", "DO 2", "DO 3"};
            try (Statement batch = one.createStatement()) {
                for (String text : texts) {
                    batch.addBatch(text);
                }
                batch.executeBatch();
            }
            one.setAutoCommit(false);
            try (PreparedStatement update = one.prepareStatement("UPDATE item SET name = ? WHERE id = ?")) {
                for (int number = 0; number < 4; number++) {
                    update.setString(1, "# Time: now");
                    update.setLong(2, id - 1);
                    update.addBatch();
                }
                update.executeBatch();
            }
            one.setSavepoint("half");
            one.rollback();
            one.setAutoCommit(true);
            try (Statement statement = one.createStatement()) {
                refused(statement, "SELECT nothing FROM item");
            }
            one.setCatalog("other");
            one.isValid(5);
        }
    }

    private void rows() throws SQLException {
        String cursor = isMariadb ? "" : "&useCursorFetch=true";
        try (Connection one = open(cursor + "&useServerPrepStmts=true");
                PreparedStatement select = one.prepareStatement("SELECT id FROM item WHERE id > ? AND ? IS NOT NULL")) {
            select.setFetchSize(2);
            select.setInt(1, 200);
            for (Object value : new Object[] {Timestamp.valueOf("2026-03-29 01:30:00.000123"), 1.5, true, "text", 3L}) {
                select.setObject(2, value);
                try (ResultSet found = select.executeQuery()) {
                    while (found.next()) {}
                }
            }
        }
        try (Connection one = open("&allowMultiQueries=true"); Statement statement = one.createStatement()) {
            // Row by row as they come.
            statement.setFetchSize(isMariadb ? 1 : Integer.MIN_VALUE);
            try (ResultSet found = statement.executeQuery("SELECT id FROM item")) {
                while (found.next()) {}
            }
            statement.execute("SELECT 1; SELECT 2");
            while (statement.getMoreResults() || statement.getUpdateCount() != -1) {}
            if (isMariadb) {
                // It has the server prepare the text, which must then be one statement.
                return;
            }
            try (var call = one.prepareStatement("SELECT ?; SELECT ?")) {
                call.setInt(1, 1);
                call.setString(2, "it's");
                call.execute();
            }
        }
    }

    private void files() throws Exception {
        Path file = Files.createTempFile("rows", null);
        Files.writeString(file, "401\tof a file\n");
        String option = isMariadb ? "&allowLocalInfile=true" : "&allowLoadLocalInfile=true";
        try (Connection one = open(option); Statement statement = one.createStatement()) {
            statement.execute("LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE item");
        } finally {
            Files.delete(file);
        }
    }

    private void handedOn(String[] given) throws SQLException {
        if (isMariadb) {
            String options = encryption() + "&maxPoolSize=1&minPoolSize=1&useResetConnection=true";
            try (var pool = new org.mariadb.jdbc.MariaDbPoolDataSource(url + options + "&user=" + given[2] + "&password=" + given[3])) {
                for (String user : new String[] {"first", "second"}) {
                    try (Connection one = pool.getConnection(); Statement statement = one.createStatement()) {
                        statement.execute("SET @user = '" + user + "'");
                    }
                }
            }
            return;
        }
        try (Connection one = open("&useCompression=true"); Statement statement = one.createStatement()) {
            var session = one.unwrap(com.mysql.cj.jdbc.JdbcConnection.class);
            session.changeUser(given[2], given[3]);
            statement.execute("SELECT 'changed'");
            session.resetServerState();
            statement.execute("SELECT 'reset'");
        }
    }

    private void charsets() throws SQLException {
        String encryption = isMariadb ? "&sslMode=trust" : "&sslMode=PREFERRED";
        if (isMariadb) {
            // It has utf8mb4 only, and refuses a server without TLS.
            return;
        }
        for (String charset : new String[] {"ISO-8859-1", "GBK"}) {
            try (Connection one = DriverManager.getConnection(url + encryption + "&characterEncoding=" + charset, account);
                    PreparedStatement select = one.prepareStatement("SELECT LENGTH(?), '\u7e17'")) {
                select.setString(1, "caf\u00e9");
                select.executeQuery().close();
            }
        }
    }
}
