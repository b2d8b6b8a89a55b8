//! Find, initialise, start, stop, snapshot and restore private mysqld and mariadbd.
