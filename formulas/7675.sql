-- platform-sync formula 7675
-- name: Conversion Rate OLD
RANK() OVER (ORDER BY SUM(`Budget`) DESC)
