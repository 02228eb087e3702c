-- platform-sync formula 7184
-- name: Ø Closed At
CONCAT(YEAR(`Closed At`), '-Q', QUARTER(`Updated At`))
