-- platform-sync formula 1903
-- name: Score by Rep
CASE WHEN `Segment` IN ('A', 'B', 'C''s') AND `Score` > -5 THEN 1 ELSE 0 END
