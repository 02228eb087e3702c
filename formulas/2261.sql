-- platform-sync formula 2261
-- name: YoY Growth
CONCAT(YEAR(`Due Date`), '-Q', QUARTER(`Last Login`))
