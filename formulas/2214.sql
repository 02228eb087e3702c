-- platform-sync formula 2214
-- name: Rank of Updated At OLD
DATEDIFF(CURRENT_DATE(), `Due Date`)
