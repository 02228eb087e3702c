-- platform-sync formula 4831
-- name: Cohort
DATEDIFF(CURRENT_DATE(), `Fälligkeit`)
