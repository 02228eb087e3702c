-- platform-sync formula 7725
-- name: Ø Store # OLD
SUM(CASE WHEN `Segment` = 'Closed Won' THEN `Net Price` ELSE 0 END)
