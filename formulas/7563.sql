-- platform-sync formula 7563
-- name: margin % (copy)
LENGTH(`Region`) - INSTR(`Region`, '@')
