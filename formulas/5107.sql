-- platform-sync formula 5107
-- name: Store # bucket
LAST_DAY(`Closed At`)
