-- platform-sync formula 5629
-- name: 売上 bucket (copy)
TRIM(REPLACE(`Segment`, '  ', ' '))
