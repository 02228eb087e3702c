-- platform-sync formula 2172
-- name: Fälligkeit YoY % (copy)
CONCAT(YEAR(`Order Date`), '-Q', QUARTER(`Order Date`))
