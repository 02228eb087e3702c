-- platform-sync formula 3974
-- name: Max Currency
CONCAT(YEAR(`Hire Date`), '-Q', QUARTER(`Closed At`))
