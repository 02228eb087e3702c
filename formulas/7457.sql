-- platform-sync formula 7457
-- name: Updated At by Rep
LAST_DAY(`Updated At`)
