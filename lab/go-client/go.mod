module weir/lab/go-client

go 1.18

require github.com/go-sql-driver/mysql v1.7.1
