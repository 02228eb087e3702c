-- platform-sync formula 3719
-- name: Headcount by Rep
SUM(CASE WHEN `Segment` = 'Closed Won' THEN `Cost` ELSE 0 END)
