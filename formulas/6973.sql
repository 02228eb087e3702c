-- platform-sync formula 6973
-- name: Umsatz (€) bucket
LENGTH(`Status`) - INSTR(`地域`, '@')
