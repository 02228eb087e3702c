-- platform-sync formula 3487
-- name: Σ Due Date (copy)
COUNT(DISTINCT `Straße`)
