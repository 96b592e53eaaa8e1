# A process that says in a file when it starts, and whether another one of its name still runs. It is no
# Node program, because a team starts dozens of it.
# recorder.sh FILE NAME LIFE IGNORES_SIGTERM: a life is in seconds, or "infinity"
# Its mark begins with the token of the leader that started it.
record() { echo "$1 $name $$ ${HOLDFAST_ROSTER%% *}" >> "$file"; }

file=$1 name=$2 life=$3 ignores=$4
if [ "$ignores" = yes ]; then trap "" TERM; fi
record start
# The lock is held until the last process that has this file open has ended.
exec 9> "$file.$name"
flock --nonblock 9 || record overlap
if [ "$life" = infinity ]; then exec sleep infinity; fi
sleep "$life"
exit 1
