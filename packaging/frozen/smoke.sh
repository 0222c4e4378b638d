#!/bin/bash
# Inside the fresh Debian, as root: what a person would do with the installed program. Facts go to /trial/report.txt.
set -u
mkdir -p /trial/out
chown person /trial/out
report() { echo "$*" >>/trial/report.txt; }
fault() { report "FAULT $*"; }

# Everything the program loads is here.
missing=$(find /opt/timbre-studio -type f \( -name '*.so*' -o -name timbre \) -print0 |
  LD_LIBRARY_PATH=/opt/timbre-studio/_internal xargs -0 -n 50 ldd 2>/dev/null | grep 'not found' | sort -u)
[ -z "$missing" ] || fault "libraries are missing: $missing"

# Files of its kinds are known, and it is what opens them.
for kind in script:timbre voice:voice; do
  type=application/x-timbre-${kind%:*}
  printf 'x' >"/trial/out/file.${kind#*:}"
  found=$(mimetype --brief "/trial/out/file.${kind#*:}")
  [ "$found" = "$type" ] || fault "a file of type $type is taken for $found"
  opener=$(runuser -u person -- xdg-mime query default "$type")
  [ "$opener" = timbre-studio.desktop ] || fault "$type is opened by '$opener'"
done

cat >/trial/person.sh <<'PERSON'
set -u
cd /trial/out
export HOME=/home/person XDG_RUNTIME_DIR=/home/person/run LC_ALL=C.UTF-8 DISPLAY=:7
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
report() { echo "$*" >>/trial/out/report.txt; }
fault() { report "FAULT $*"; }
wait_for() { # SECONDS COMMAND...
  local left=$1
  shift
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || return 1
    sleep 1
  done
}

# A sound server that plays into nothing, and what it played.
pulseaudio -n --daemonize=no --use-pid-file=no --exit-idle-time=-1 --disable-shm=yes --realtime=no \
  -L "module-native-protocol-unix socket=$XDG_RUNTIME_DIR/sound" -L "module-null-sink sink_name=nowhere rate=48000" 2>/trial/out/pulse.log &
server=$!
export PULSE_SERVER=unix:$XDG_RUNTIME_DIR/sound
wait_for 20 pactl info || fault "no sound server"
listen() { parec --device=nowhere.monitor --file-format=wav --format=s16le --rate=48000 --channels=1 "$1" & listener=$!; sleep 1; }
heard() { sleep 1; kill -INT "$listener"; wait "$listener"; }

# In the terminal.
report "version: $(timbre --version)"
timbre doctor >doctor.txt 2>&1 || fault "the doctor is not content: $(grep BAD doctor.txt)"
timbre say "The harbour was quiet that morning." --voice Ada -o said.wav 2>say.log || fault "timbre say: $(tail -1 say.log)"
listen played.wav
timbre say "The harbour was quiet that morning." --voice Ada --play 2>play.log || fault "timbre say --play: $(tail -1 play.log)"
heard
timbre engines list >engines.txt 2>&1 || fault "timbre engines: $(tail -1 engines.txt)"

# In the window.
Xvfb :7 -screen 0 1400x900x24 -nolisten tcp 2>/dev/null &
screen=$!
wait_for 20 xdotool getmouselocation || fault "no screen"
openbox 2>/dev/null &
timbre app 2>window.log &
window=$!
wait_for 60 xdotool search --onlyvisible --name 'Timbre Studio' || fault "no window: $(tail -2 window.log)"
spoken() { pgrep -f -- --multiprocessing-fork && pgrep -P "$window"; }
wait_for 60 spoken || fault "the window started no worker"
sleep 15
scrot -o window.png
id=$(xdotool search --onlyvisible --name 'Timbre Studio' | head -1)
xdotool windowactivate --sync "$id" 2>/dev/null
listen window.wav
xdotool type --delay 30 "Good morning, this is the window."
xdotool key ctrl+Return
sleep 25
scrot -o spoken.png
heard
grep -q libtorch "/proc/$window/maps" && fault "torch is in the process of the window"
worker=$(pgrep -P "$window" -f -- pipe_handle | head -1)
[ -n "$worker" ] && grep -q libtorch "/proc/$worker/maps" || fault "torch is not in the worker"
report "memory of the window: $(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$window/status") MB"
xdotool key ctrl+q
sleep 3
scrot -o closing.png
xdotool key alt+d
if wait_for 20 test ! -d "/proc/$window"; then wait "$window" || fault "the window ended with status $?"; else
  fault "the window does not close"
  kill "$window"
fi
sleep 1
pgrep -f -- /opt/timbre-studio >/dev/null && fault "processes are left: $(pgrep -af -- /opt/timbre-studio)"
kill "$screen" "$server"
wait
PERSON
runuser -u person -- bash /trial/person.sh
cat /trial/out/report.txt >>/trial/report.txt
report END
