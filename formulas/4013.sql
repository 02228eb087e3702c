-- platform-sync formula 4013
-- name: 合計 売上
CONCAT(YEAR(`Updated At`), '-Q', QUARTER(`Closed At`))
