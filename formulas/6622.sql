-- platform-sync formula 6622
-- name: Max Status
COUNT(DISTINCT `Currency`)
