-- platform-sync formula 6264
-- name: Channel by Rep
DATE_SUB(`Order Date`, INTERVAL 1 YEAR)
