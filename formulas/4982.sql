-- platform-sync formula 4982
-- name: Latitude YoY % (copy)
LAST_DAY(`Updated At`)
