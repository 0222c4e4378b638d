; The installer for Windows.                                                                          NOT RUN YET
;
; Written against the documentation of Inno Setup 6.3 (the first that knows x64compatible), and read line by line;
; no Windows machine has compiled or run it so far. packaging/windows/build.py calls it:
;
;   ISCC.exe /DVersion=0.1.0 /DProgram=DIST\timbre-studio /DIcon=ICONS\timbre-studio.ico /DOutput=DIST timbre-studio.iss
;
; It installs for the person who runs it and asks for no administrator. Removing the program takes all of its own
; files and asks about nothing: voices, drafts, models and settings are a person's own and stay in their folders.

#ifndef Version
  #error Version is not given: start packaging/windows/build.py
#endif
#ifndef Program
  #error Program, the folder that PyInstaller made, is not given: start packaging/windows/build.py
#endif
#define Name "Timbre Studio"
#define Window "Timbre Studio.exe"
#define Terminal "timbre.exe"

[Setup]
; For ever the same: by it a newer version finds the older one.
AppId={{6E0B8A52-4B0F-4C39-9C55-7D9F2E6A41C7}
AppName={#Name}
AppVersion={#Version}
AppVerName={#Name} {#Version}
AppPublisher=The makers of Timbre Studio
VersionInfoVersion={#Version}
VersionInfoDescription={#Name}
; Without an administrator "autopf" is %LocalAppData%\Programs.
PrivilegesRequired=lowest
DefaultDirName={autopf}\{#Name}
DisableProgramGroupPage=yes
; PyTorch and Qt are made for 64 bits; Qt 6 wants Windows 10 of 1809.
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
; Held by the window and by commands (frozen/launcher.py): nothing is replaced or removed under a running program.
AppMutex=TimbreStudioIsRunning
CloseApplications=yes
RestartApplications=no
ChangesAssociations=yes
SetupIconFile={#Icon}
UninstallDisplayName={#Name}
UninstallDisplayIcon={app}\{#Window}
OutputDir={#Output}
OutputBaseFilename=timbre-studio-{#Version}-windows-x64
Compression=lzma2/max
SolidCompression=yes
WizardStyle=modern
ShowLanguageDialog=auto
#ifdef Sign
; "timbre" is the name that build.py gives the command (ISCC /Stimbre=...); the uninstaller is signed with it, too.
SignTool=timbre
SignedUninstaller=yes
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
; Not all releases of Inno Setup bring it.
#if FileExists(AddBackslash(CompilerPath) + "Languages\ChineseSimplified.isl")
Name: "zh"; MessagesFile: "compiler:Languages\ChineseSimplified.isl"
#endif

[CustomMessages]
en.OpenFiles=Open scripts (.timbre) and voices (.voice) with {#Name}
en.Script=Timbre script
en.Voice=Timbre voice
#if FileExists(AddBackslash(CompilerPath) + "Languages\ChineseSimplified.isl")
zh.OpenFiles=用 {#Name} 打开脚本（.timbre）和声音（.voice）
zh.Script=Timbre 脚本
zh.Voice=Timbre 声音
#endif

[Tasks]
Name: "open"; Description: "{cm:OpenFiles}"
Name: "desktop"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[InstallDelete]
; Libraries of an older version would be found by the newer one.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Program}\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{autoprograms}\{#Name}"; Filename: "{app}\{#Window}"
Name: "{autodesktop}\{#Name}"; Filename: "{app}\{#Window}"; Tasks: desktop

[Registry]
; HKA is the person's own part of the registry here. What Windows opens a file with is its user's choice: this offers.
; Entries go in the opposite order when the program is removed, and with them the keys that are empty by then.
Root: HKA; Subkey: "Software\Classes\.timbre"; Flags: uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\.timbre\OpenWithProgids"; ValueType: string; ValueName: "TimbreStudio.Script"; ValueData: ""; Flags: uninsdeletevalue uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Script"; ValueType: string; ValueName: ""; ValueData: "{cm:Script}"; Flags: uninsdeletekey; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Script\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Window},0"; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Script\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\{#Window}"" app ""%1"""; Tasks: open
Root: HKA; Subkey: "Software\Classes\.voice"; Flags: uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\.voice\OpenWithProgids"; ValueType: string; ValueName: "TimbreStudio.Voice"; ValueData: ""; Flags: uninsdeletevalue uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Voice"; ValueType: string; ValueName: ""; ValueData: "{cm:Voice}"; Flags: uninsdeletekey; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Voice\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Window},0"; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Voice\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\{#Window}"" app ""%1"""; Tasks: open
; So that Windows+R finds `timbre`; for a terminal the folder has {#Terminal}.
Root: HKA; Subkey: "Software\Microsoft\Windows\CurrentVersion\App Paths\{#Terminal}"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Terminal}"; Flags: uninsdeletekey

[Run]
Filename: "{app}\{#Window}"; Description: "{cm:LaunchProgram,{#Name}}"; Flags: nowait postinstall skipifsilent

[UninstallDelete]
; Files that this installer put there go by themselves; this takes what a library may have written beside its own.
Type: filesandordirs; Name: "{app}\_internal"
