-- platform-sync formula 7226
-- name: Total Straße v2
SUM(`Discount`)
