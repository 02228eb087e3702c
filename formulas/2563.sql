-- platform-sync formula 2563
-- name: Weight kg YoY % test
DATEDIFF(CURRENT_DATE(), `Created At`)
