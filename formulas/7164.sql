-- platform-sync formula 7164
-- name: Émissions test
LAST_DAY(`Updated At`)
