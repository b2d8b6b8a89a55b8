// Sessions of go-sql-driver: HOST PORT USER PASSWORD SCHEMA.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

var ctx = context.Background()

// Opens a pool of one connection.
func open(options string) *sql.DB {
	if os.Getenv("SESSIONS_ENCRYPT") != "" && !strings.Contains(options, "tls=") {
		options += "&tls=skip-verify"
	}
	dsn := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?%s", os.Args[3], os.Args[4], os.Args[1], os.Args[2], os.Args[5], options)
	pool, err := sql.Open("mysql", dsn)
	check(err)
	pool.SetMaxOpenConns(1)
	return pool
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func run(pool *sql.DB, text string, values ...any) {
	_, err := pool.Exec(text, values...)
	check(err)
}

func read(pool *sql.DB, text string, values ...any) {
	rows, err := pool.Query(text, values...)
	check(err)
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
		}
	}
	check(rows.Err())
	check(rows.Close())
}

func refused(pool *sql.DB, text string) {
	var told *mysql.MySQLError
	if _, err := pool.Exec(text); !errors.As(err, &told) {
		log.Fatalf("%s: it was not refused: %v", text, err)
	}
}

// Texts whose parameters the driver writes into them.
func texts() {
	pool := open("interpolateParams=true&multiStatements=true&allowAllFiles=true&charset=utf8mb4&parseTime=true")
	run(pool, "INSERT INTO item VALUES (?, ?)", 101, "it's café 😀\r\n\\")
	run(pool, "INSERT INTO item VALUES (?, ?), (?, ?)", 102, nil, 103, []byte("bytes"))
	read(pool, "SELECT 1; SELECT 2")
	read(pool, "SELECT ?, ?, ?", true, 1.5, time.Date(2026, 3, 29, 2, 30, 0, 123000, time.UTC))
	mysql.RegisterReaderHandler("rows", func() io.Reader {
		return strings.NewReader("104\tof a reader\n")
	})
	run(pool, "LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE item")
	refused(pool, "SELECT nothing FROM item")
	run(pool, "USE other")
	refused(pool, "USE nowhere")
	run(pool, "DO 'of the other schema'")
	check(pool.Close())
}

// Statements that the server prepares, each for one use, and one for several.
func prepared() {
	pool := open("clientFoundRows=true")
	run(pool, "INSERT INTO item VALUES (?, ?)", 105, strings.Repeat("x", 70_000))
	run(pool, "INSERT INTO item VALUES (?, ?)", 106, nil)
	read(pool, "SELECT ?, ?", time.Date(2026, 3, 29, 2, 30, 0, 123000, time.UTC), -7.25)
	statement, err := pool.Prepare("SELECT name FROM item WHERE id = ?")
	check(err)
	for _, id := range []any{105, "106", uint64(107)} {
		rows, err := statement.Query(id)
		check(err)
		check(rows.Close())
	}
	check(statement.Close())
	transaction, err := pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	check(err)
	_, err = transaction.Exec("UPDATE item SET name = ? WHERE id = ?", "# Time: now", 105)
	check(err)
	check(transaction.Rollback())
	transaction, err = pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	check(err)
	check(transaction.Commit())
	check(pool.Ping())
	check(pool.Close())
	// Parameters that are longer than a packet may be go in pieces.
	pool = open("maxAllowedPacket=65536")
	run(pool, "INSERT INTO item VALUES (?, ?)", 108, []byte(strings.Repeat("long ", 9000)))
	check(pool.Close())
}

// The next user of the pool's connection gets the session as it is.
func handedOn() {
	pool := open("tls=preferred&compress=true")
	for _, user := range []string{"first", "second"} {
		connection, err := pool.Conn(ctx)
		check(err)
		_, err = connection.ExecContext(ctx, "SET @user = '"+user+"'")
		check(err)
		check(connection.Close())
	}
	check(pool.Close())
	pool = open("collation=latin1_swedish_ci")
	run(pool, "DO 'caf\xe9'")
	check(pool.Close())
}

func main() {
	texts()
	prepared()
	handedOn()
}
