-- platform-sync formula 6160
-- name: ARPU test
SUM(`Latitude`) - SUM(`Revenue`)
