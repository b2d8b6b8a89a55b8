<?php
// Sessions of PHP's mysqli and PDO: HOST PORT USER PASSWORD SCHEMA FORM; encrypted if SESSIONS_ENCRYPT is there.
[, $host, $port, $user, $password, $schema, $form] = $argv;
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function refused(callable $call): void
{
    try {
        $call();
    } catch (Exception) {
        return;
    }
    throw new Exception('it was not refused');
}

function rows_file(string $rows): string
{
    $file = tempnam(sys_get_temp_dir(), 'rows');
    file_put_contents($file, $rows);
    return $file;
}

function session(string $charset = 'utf8mb4', string $prefix = '', int $flags = 0): mysqli
{
    global $host, $port, $user, $password, $schema;
    $session = mysqli_init();
    $session->options(MYSQLI_OPT_LOCAL_INFILE, 1);
    $session->options(MYSQLI_SET_CHARSET_NAME, $charset);
    if (getenv('SESSIONS_ENCRYPT') !== false) {
        // The proxy signs its own certificate.
        $flags |= MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT;
    }
    $session->real_connect("$prefix$host", $user, $password, $schema, (int) $port, null, $flags);
    return $session;
}

function prepared_statements(mysqli $one): void
{
    $insert = $one->prepare('INSERT INTO item VALUES (?, ?)');
    foreach ([72 => "it's", 73 => null, 74 => "\x00\\\""] as $id => $name) {
        $insert->bind_param('is', $id, $name);
        $insert->execute();
    }
    $nothing = null;
    $id = 75;
    $insert->bind_param('ib', $id, $nothing);
    $insert->send_long_data(1, str_repeat('long ', 9000));
    $insert->send_long_data(1, 'data');
    $insert->execute();
    $cursor = $one->prepare('SELECT id FROM item WHERE id > ? AND ? < 1.5');
    $cursor->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    [$least, $half] = [70, 0.5];
    $cursor->bind_param('id', $least, $half);
    $cursor->execute();
    $cursor->bind_result($found);
    while ($cursor->fetch());
    $cursor->close();
    refused(fn () => $one->prepare('SELECT nothing FROM item'));
}

function by_mysqli(): void
{
    global $user, $password;
    $one = session();
    $one->query("INSERT INTO item VALUES (71, 'caf\u{e9} \u{1f600}\r\n')");
    prepared_statements($one);
    $one->multi_query('SELECT 1; SELECT 2');
    do {
        $one->store_result();
    } while ($one->more_results() && $one->next_result());
    $file = rows_file("76\tseventy-six\n77\tit's\n");
    $one->query("LOAD DATA LOCAL INFILE '$file' INTO TABLE item");
    unlink($file);
    $one->begin_transaction();
    $one->query("UPDATE item SET name = '# Time: now' WHERE id = 72");
    $one->savepoint('half');
    $one->rollback();
    $one->select_db('other');
    $one->query("SELECT 'of the other schema'");
    refused(fn () => $one->select_db('nowhere'));
    $one->query('SELECT SLEEP(0)', MYSQLI_ASYNC);
    $one->reap_async_query();
    $one->change_user($user, $password, 'other');
    $one->query("SELECT 'changed'");
    $one->close();
    // What a pool hands on: the second has the connection of the first.
    foreach (['first', 'second'] as $request) {
        $kept = session('utf8mb4', 'p:');
        $kept->query("SELECT '$request'");
        $kept->close();
    }
    $compressed = session('utf8mb4', '', MYSQLI_CLIENT_COMPRESS);
    $compressed->query("SELECT REPEAT('x', 9000)");
    $compressed->close();
    foreach (['latin1' => "caf\xe9", 'gbk' => "\xbf\x5c"] as $charset => $text) {
        $other = session($charset);
        $other->query("SELECT '" . $other->real_escape_string($text) . "'");
        $other->close();
    }
}

function by_pdo(): void
{
    global $host, $port, $user, $password, $schema;
    $options = [PDO::MYSQL_ATTR_LOCAL_INFILE => true, PDO::ATTR_EMULATE_PREPARES => true];
    if (getenv('SESSIONS_ENCRYPT') !== false) {
        $options += [PDO::MYSQL_ATTR_SSL_CIPHER => 'HIGH', PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => false];
    }
    $one = new PDO("mysql:host=$host;port=$port;dbname=$schema;charset=utf8mb4", $user, $password, $options);
    $one->prepare('INSERT INTO item VALUES (?, ?)')->execute([81, "it's caf\u{e9} \u{1f600}"]);
    $one->query('SELECT 1; SELECT 2')->nextRowset();
    $file = rows_file("82\teighty-two\n");
    $one->exec("LOAD DATA LOCAL INFILE '$file' INTO TABLE item");
    unlink($file);
    $one->beginTransaction();
    $one->exec('DELETE FROM item WHERE id = 82');
    $one->rollBack();
    $one->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
    $one->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
    $select = $one->prepare('SELECT name FROM item WHERE id > :least AND name <> :name');
    foreach ([80, 81] as $least) {
        $select->bindValue('least', $least, PDO::PARAM_INT);
        $select->bindValue('name', "it's");
        $select->execute();
        $select->fetchAll();
    }
    refused(fn () => $one->query('SELECT nothing FROM item'));
    $one->setAttribute(PDO::ATTR_AUTOCOMMIT, 0);
    $one->exec('DELETE FROM item WHERE id = 81');
    $one->setAttribute(PDO::ATTR_AUTOCOMMIT, 1);
}

$form === 'mysqli' ? by_mysqli() : by_pdo();
