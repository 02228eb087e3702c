-- platform-sync formula 2009
-- name: Rolling 12 "months" (copy)
SUM(CASE WHEN YEAR(`Updated At`) = YEAR(CURDATE()) THEN `Revenue` END)
