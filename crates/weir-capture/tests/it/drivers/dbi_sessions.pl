# Sessions of DBD::mysql and DBD::MariaDB: HOST PORT USER PASSWORD SCHEMA DRIVER; encrypted if SESSIONS_ENCRYPT is there.
use strict;
use warnings;
use utf8;
use DBI;
use File::Temp;

my ($host, $port, $user, $password, $schema, $driver) = @ARGV;
my $prefix = lc $driver;
my $account = "DBI:$driver:database=$schema;host=$host;port=$port";
# DBD::mysql, built with MariaDB's library, cannot insist on encryption; the server tells if a session has it.
$account .= ";${prefix}_ssl=1;${prefix}_ssl_optional=1;${prefix}_ssl_verify_server_cert=0" if exists $ENV{SESSIONS_ENCRYPT};

sub file_of {
    my $file = File::Temp->new;
    print $file @_;
    close $file;
    return $file;
}

sub session {
    my %options = (local_infile => 1, @_);
    my $more = join '', map { ";${prefix}_$_=$options{$_}" } sort keys %options;
    return DBI->connect("$account$more", $user, $password, { RaiseError => 1, PrintError => 0 });
}

sub refused {
    my ($call) = @_;
    die 'it was not refused' if eval { $call->(); 1 };
}

# By texts, and by the server's prepared statements.
for my $is_prepared (0, 1) {
    my $id = 91 + 4 * $is_prepared;
    my $one = session(server_prepare => $is_prepared, multi_statements => 1);
    $one->do('SET NAMES utf8mb4') if $driver eq 'mysql';
    my $insert = $one->prepare('INSERT INTO item VALUES (?, ?)');
    $insert->execute($id, "it's a \\ and a \"");
    $insert->execute($id + 1, undef);
    $insert->execute($id + 2, 'x' x 70_000);
    # Row by row as they come. Others than texts of DBD::mysql 4.050 then wait for rows that never come, or are out of sync.
    my %by_row = $is_prepared || $driver ne 'mysql' ? () : (mysql_use_result => 1);
    my $select = $one->prepare('SELECT id FROM item WHERE id > ? ORDER BY id', \%by_row);
    for my $least (90, 92) {
        $select->execute($least);
        $select->fetchall_arrayref;
    }
    my $file = file_of($id + 3, "\tof a file\n");
    $one->do("LOAD DATA LOCAL INFILE '$file' INTO TABLE item");
    if (!$is_prepared) {
        my $several = $one->prepare('SELECT 1; SELECT 2');
        $several->execute;
        1 while $several->more_results;
    }
    $one->begin_work;
    $one->do('UPDATE item SET name = ? WHERE id = ?', undef, '# Time: now', $id);
    $one->commit;
    $one->{AutoCommit} = 0;
    $one->do('DELETE FROM item WHERE id = ?', undef, $id);
    $one->rollback;
    $one->{AutoCommit} = 1;
    refused(sub { $one->do('SELECT nothing FROM item') });
    $one->do('USE other');
    refused(sub { $one->do('USE nowhere') });
    $one->do("DO 'of the other schema'");
    $one->ping;
    $one->disconnect;
}

my $compressed = session(compression => 1);
$compressed->selectall_arrayref("SELECT REPEAT('x', 9000)");
$compressed->disconnect;

# The character set of a login comes from an option file.
my $options = file_of("[client]\ndefault-character-set=latin1\n");
my $latin = session(read_default_file => $options);
$latin->do("DO 'of another character set'");
$latin->disconnect;

# What a pool hands on.
for my $request ('first', 'second') {
    my $kept = DBI->connect_cached($account, $user, $password, { RaiseError => 1 });
    $kept->do("DO '$request'");
}
