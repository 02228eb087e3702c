-- platform-sync formula 5879
-- name: Total Net Price
RANK() OVER (ORDER BY SUM(`Headcount`) DESC)
