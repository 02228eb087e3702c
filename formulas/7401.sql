-- platform-sync formula 7401
-- name: Cohort test
DATE_SUB(`Ship Date`, INTERVAL 1 YEAR)
