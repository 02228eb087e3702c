-- platform-sync formula 6808
-- name: Created At YoY % (copy)
APPROXIMATE_COUNT_DISTINCT(`Currency`)
