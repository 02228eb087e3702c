-- platform-sync formula 8139
-- name: Avg Currency v2
DATEDIFF(CURRENT_DATE(), `Due Date`)
