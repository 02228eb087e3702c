-- platform-sync formula 3365
-- name: 🔥 Hot leads test
APPROXIMATE_COUNT_DISTINCT(`Store #`)
