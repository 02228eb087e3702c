-- platform-sync formula 3217
-- name: Rolling 12 "months" v2
SUM(CASE WHEN YEAR(`Ship Date`) = YEAR(CURDATE()) THEN `Budget` END)
