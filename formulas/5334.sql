-- platform-sync formula 5334
-- name: Campaign/Source by Rep
RANK() OVER (ORDER BY SUM(`Cost`) DESC)
