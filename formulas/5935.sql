-- platform-sync formula 5935
-- name: Ø SKU - DO NOT USE
SUM(CASE WHEN `Segment` = 'Closed Won' THEN `Score` ELSE 0 END)
