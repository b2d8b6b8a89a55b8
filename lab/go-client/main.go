// A client in Go as applications have one: point selects with prepared statements over database/sql, a goroutine for
// each connection. `make bench-load` runs it beside Weir; it prints the two lines of sysbench's report that are read.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

type options struct {
	dsn     string
	tables  int
	rows    int
	threads int
	length  time.Duration
}

func main() {
	var given options
	flag.StringVar(&given.dsn, "dsn", "", "where the server is, as in USER@unix(SOCKET)/SCHEMA")
	flag.IntVar(&given.tables, "tables", 1, "tables sbtest1, sbtest2, ...")
	flag.IntVar(&given.rows, "table-size", 10000, "rows of a table")
	flag.IntVar(&given.threads, "threads", 1, "connections")
	flag.DurationVar(&given.length, "time", 10*time.Second, "length of the run")
	flag.Parse()
	if err := run(given); err != nil {
		fmt.Fprintln(os.Stderr, "go-client:", err)
		os.Exit(1)
	}
}

func run(given options) error {
	db, err := sql.Open("mysql", given.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(given.threads)
	db.SetMaxIdleConns(given.threads)
	ctx := context.Background()
	workers := make([]*worker, given.threads)
	for number := range workers {
		workers[number], err = connect(ctx, db, given, int64(number))
		if err != nil {
			return err
		}
	}
	began := time.Now()
	until := began.Add(given.length)
	var group sync.WaitGroup
	for _, one := range workers {
		group.Add(1)
		go func(one *worker) {
			defer group.Done()
			one.work(ctx, until)
		}(one)
	}
	group.Wait()
	seconds := time.Since(began).Seconds()
	queries := 0
	for _, one := range workers {
		if one.err != nil {
			return one.err
		}
		queries += one.queries
	}
	fmt.Printf("queries: %d\ntotal time: %.4fs\n", queries, seconds)
	return nil
}

// A worker has a connection with a statement for each table.
type worker struct {
	statements []*sql.Stmt
	random     *rand.Rand
	rows       int
	queries    int
	err        error
}

func connect(ctx context.Context, db *sql.DB, given options, seed int64) (*worker, error) {
	connection, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	made := &worker{random: rand.New(rand.NewSource(seed)), rows: given.rows}
	for table := 1; table <= given.tables; table++ {
		text := fmt.Sprintf("SELECT c FROM sbtest%d WHERE id=?", table)
		statement, err := connection.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		made.statements = append(made.statements, statement)
	}
	return made, nil
}

func (one *worker) work(ctx context.Context, until time.Time) {
	var found string
	for time.Now().Before(until) {
		statement := one.statements[one.random.Intn(len(one.statements))]
		id := 1 + one.random.Intn(one.rows)
		if one.err = statement.QueryRowContext(ctx, id).Scan(&found); one.err != nil {
			return
		}
		one.queries++
	}
}
