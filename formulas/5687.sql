-- platform-sync formula 5687
-- name: Ø Visits test
RANK() OVER (ORDER BY SUM(`Conversion Rate`) DESC)
