-- platform-sync formula 5395
-- name: Total Conversion Rate
LAST_DAY(`Created At`)
