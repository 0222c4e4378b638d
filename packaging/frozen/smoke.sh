#!/bin/bash
# Runs as root in the fresh Debian and uses the installed program like a user. Results go to /trial/report.txt.
set -u
mkdir -p /trial/out
chown person /trial/out
report() { echo "$*" >>/trial/report.txt; }
fault() { report "FAULT $*"; }

# All libraries of the program are present.
missing=$(find /usr/lib/timbre-studio -type f \( -name '*.so*' -o -name timbre \) -print0 |
  LD_LIBRARY_PATH=/usr/lib/timbre-studio/_internal xargs -0 -n 50 ldd 2>/dev/null | grep 'not found' | sort -u)
[ -z "$missing" ] || fault "libraries are missing: $missing"

# Its file types are registered and opened by it.
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

# A sound server with a null sink, and recordings of its output.
pulseaudio -n --daemonize=no --use-pid-file=no --exit-idle-time=-1 --disable-shm=yes --realtime=no \
  -L "module-native-protocol-unix socket=$XDG_RUNTIME_DIR/sound" -L "module-null-sink sink_name=nowhere rate=48000" 2>/trial/out/pulse.log &
server=$!
export PULSE_SERVER=unix:$XDG_RUNTIME_DIR/sound
wait_for 20 pactl info || fault "no sound server"
listen() { parec --device=nowhere.monitor --file-format=wav --format=s16le --rate=48000 --channels=1 "$1" & listener=$!; sleep 1; }
heard() { sleep 1; kill -INT "$listener"; wait "$listener"; }

# In the terminal.
report "version: $(timbre --version)"
timbre doctor >doctor.txt 2>&1 || fault "the doctor reports problems: $(grep BAD doctor.txt)"
timbre say "The harbour was quiet that morning." --voice Ada -o said.wav 2>say.log || fault "timbre say: $(tail -1 say.log)"
listen played.wav
timbre say "The harbour was quiet that morning." --voice Ada --play 2>play.log || fault "timbre say --play: $(tail -1 play.log)"
heard
ffmpeg -nostdin -loglevel error -i /usr/lib/timbre-studio/_internal/studio/resources/voices/Ada.wav memo.m4a
timbre say "The harbour was quiet that morning." --voice memo.m4a -o memo.wav 2>memo.log || fault "a phone's recording: $(tail -1 memo.log)"
timbre engines list >engines.txt 2>&1 || fault "timbre engines: $(tail -1 engines.txt)"

# In the window, opened with a text file.
echo "Good morning, this is the window." >lines.txt
Xvfb :7 -screen 0 1400x900x24 -nolisten tcp -noreset 2>/dev/null &
screen=$!
wait_for 60 xdotool getmouselocation || fault "no screen"
openbox 2>/dev/null &
timbre app lines.txt 2>window.log &
window=$!
wait_for 120 xdotool search --onlyvisible --name 'Timbre Studio' || fault "no window: $(tail -2 window.log)"
worker_of() { pgrep -P "$window" -f -- pipe_handle; }
speaks() { grep -q libtorch_python "/proc/$(worker_of | head -1)/maps"; }
wait_for 300 speaks || fault "the window has no worker"
sleep 20
scrot -o window.png
xdotool windowactivate --sync "$(xdotool search --onlyvisible --name 'Timbre Studio' | head -1)" 2>/dev/null
listen window.wav
xdotool key ctrl+Return
plays() { [ -n "$(pactl list short sink-inputs)" ]; }
wait_for 300 plays || fault "the window plays nothing"
sleep 5
scrot -o spoken.png
is_over() { ! plays; }
wait_for 300 is_over || fault "the window does not stop playing"
heard
grep -q libtorch "/proc/$window/maps" && fault "torch is in the process of the window"
report "memory of the window: $(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$window/status") MB"
xdotool key ctrl+q
sleep 5
scrot -o closing.png
if [ -d "/proc/$window" ]; then # it asks whether to save the script
  xdotool key Tab Return
  sleep 5
  scrot -o closed.png
fi
if wait_for 60 test ! -d "/proc/$window"; then
  wait "$window" || fault "the window ended with status $?"
else
  fault "the window does not close"
  kill -9 "$window"
fi
sleep 1
pgrep -f -- /usr/lib/timbre-studio >/dev/null && fault "processes are left: $(pgrep -af -- /usr/lib/timbre-studio)"
kill "$screen" "$server"
wait
PERSON
runuser -u person -- bash /trial/person.sh
cat /trial/out/report.txt >>/trial/report.txt
report END
