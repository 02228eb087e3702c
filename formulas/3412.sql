-- platform-sync formula 3412
-- name: Win Rate test
LAST_DAY(`Created At`)
