-- platform-sync formula 8032
-- name: 🔥 Hot leads v2
CONCAT(YEAR(`Hire Date`), '-Q', QUARTER(`Hire Date`))
