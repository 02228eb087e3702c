-- platform-sync formula 2881
-- name: Größe
SUM(CASE WHEN YEAR(`Order Date`) = YEAR(CURDATE()) THEN `Weight kg` END)
