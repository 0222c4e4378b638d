<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>BookSummary</name>
    <message numerus="yes">
        <source>%n chapter(s), {length}</source>
        <translation>
            <numerusform>%n chapter, {length}</numerusform>
            <numerusform>%n chapters, {length}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CastingController</name>
    <message numerus="yes">
        <source>%n character(s) cast</source>
        <translation>
            <numerusform>%n character cast</numerusform>
            <numerusform>%n characters cast</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) selected</source>
        <translation>
            <numerusform>%n line selected</numerusform>
            <numerusform>%n lines selected</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConsistencyDialog</name>
    <message numerus="yes">
        <source>%n heading(s) are left out.</source>
        <translation>
            <numerusform>%n heading is left out.</numerusform>
            <numerusform>%n headings are left out.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Checking %n take(s).</source>
        <translation>
            <numerusform>Checking %n take.</numerusform>
            <numerusform>Checking %n takes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n take(s) have not been measured.</source>
        <translation>
            <numerusform>%n take has not been measured.</numerusform>
            <numerusform>%n takes have not been measured.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DiagnosticsDialog</name>
    <message numerus="yes">
        <source>Speech works. %n item(s) can be improved.</source>
        <translation>
            <numerusform>Speech works. %n item can be improved.</numerusform>
            <numerusform>Speech works. %n items can be improved.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DraggingView</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DubbingController</name>
    <message numerus="yes">
        <source>%n line(s) fitted.</source>
        <translation>
            <numerusform>%n line fitted.</numerusform>
            <numerusform>%n lines fitted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) remain too long; they are marked.</source>
        <translation>
            <numerusform>%n line remains too long; it is marked.</numerusform>
            <numerusform>%n lines remain too long; they are marked.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportController</name>
    <message numerus="yes">
        <source>Export: %n line(s) failed</source>
        <translation>
            <numerusform>Export: %n line failed</numerusform>
            <numerusform>Export: %n lines failed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) exported.</source>
        <translation>
            <numerusform>%n file exported.</numerusform>
            <numerusform>%n files exported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) missing.</source>
        <translation>
            <numerusform>%n line missing.</numerusform>
            <numerusform>%n lines missing.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sound(s) or direction(s) not exported.</source>
        <translation>
            <numerusform>%n sound or direction not exported.</numerusform>
            <numerusform>%n sounds or directions not exported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) too long for the slot.</source>
        <translation>
            <numerusform>%n line too long for the slot.</numerusform>
            <numerusform>%n lines too long for the slot.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) could not be spoken.</source>
        <translation>
            <numerusform>%n line could not be spoken.</numerusform>
            <numerusform>%n lines could not be spoken.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) with problems.</source>
        <translation>
            <numerusform>%n line with problems.</numerusform>
            <numerusform>%n lines with problems.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportForm</name>
    <message numerus="yes">
        <source>%n line(s) are new or changed:</source>
        <translation>
            <numerusform>%n line is new or changed:</numerusform>
            <numerusform>%n lines are new or changed:</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportResuming</name>
    <message numerus="yes">
        <source>{count} of %n line(s) spoken.</source>
        <translation>
            <numerusform>{count} of %n line spoken.</numerusform>
            <numerusform>{count} of %n lines spoken.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message numerus="yes">
        <source>%n match(es) replaced</source>
        <translation>
            <numerusform>%n match replaced</numerusform>
            <numerusform>%n matches replaced</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n match(es)</source>
        <translation>
            <numerusform>%n match</numerusform>
            <numerusform>%n matches</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FindingsList</name>
    <message numerus="yes">
        <source>Skip %n line(s) that would fail</source>
        <translation>
            <numerusform>Skip %n line that would fail</numerusform>
            <numerusform>Skip %n lines that would fail</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FitDialog</name>
    <message numerus="yes">
        <source>%n line(s) have not been spoken.</source>
        <translation>
            <numerusform>%n line has not been spoken.</numerusform>
            <numerusform>%n lines have not been spoken.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) fitted.</source>
        <translation>
            <numerusform>%n line fitted.</numerusform>
            <numerusform>%n lines fitted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) spoken again.</source>
        <translation>
            <numerusform>%n line spoken again.</numerusform>
            <numerusform>%n lines spoken again.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) remain too long; they are marked.</source>
        <translation>
            <numerusform>%n line remains too long; it is marked.</numerusform>
            <numerusform>%n lines remain too long; they are marked.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImportPage</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n not spoken</source>
        <translation>
            <numerusform>%n not spoken</numerusform>
            <numerusform>%n not spoken</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n character</numerusform>
            <numerusform>%n characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chapter(s)</source>
        <translation>
            <numerusform>%n chapter</numerusform>
            <numerusform>%n chapters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more line(s)</source>
        <translation>
            <numerusform>%n more line</numerusform>
            <numerusform>%n more lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LanguageNotices</name>
    <message numerus="yes">
        <source>%n line(s) not spoken.</source>
        <translation>
            <numerusform>%n line not spoken.</numerusform>
            <numerusform>%n lines not spoken.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LevelsPanel</name>
    <message numerus="yes">
        <source>%n file(s) do not meet the standard.</source>
        <translation>
            <numerusform>%n file does not meet the standard.</numerusform>
            <numerusform>%n files do not meet the standard.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LineModel</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n need attention</source>
        <translation>
            <numerusform>%n needs attention</numerusform>
            <numerusform>%n need attention</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LineNotices</name>
    <message numerus="yes">
        <source>%n line(s) spoken without style: {model} does not support it.</source>
        <translation>
            <numerusform>%n line spoken without style: {model} does not support it.</numerusform>
            <numerusform>%n lines spoken without style: {model} does not support it.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LineSettingsForm</name>
    <message numerus="yes">
        <source>Changes apply to %n line(s)</source>
        <translation>
            <numerusform>Changes apply to %n line</numerusform>
            <numerusform>Changes apply to %n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LiveStrip</name>
    <message numerus="yes">
        <source>Idle · up to %n line(s) at once</source>
        <translation>
            <numerusform>Idle · up to %n line at once</numerusform>
            <numerusform>Idle · up to %n lines at once</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count} of up to %n line(s) at once</source>
        <translation>
            <numerusform>{count} of up to %n line at once</numerusform>
            <numerusform>{count} of up to %n lines at once</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message numerus="yes">
        <source>Not supported yet (%n)</source>
        <translation>
            <numerusform>Not supported yet (%n)</numerusform>
            <numerusform>Not supported yet (%n)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NamePreview</name>
    <message numerus="yes">
        <source>%n file(s):</source>
        <translation>
            <numerusform>%n file:</numerusform>
            <numerusform>%n files:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>… and %n more line(s)</source>
        <translation>
            <numerusform>… and %n more line</numerusform>
            <numerusform>… and %n more lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n new</source>
        <translation>
            <numerusform>%n new</numerusform>
            <numerusform>%n new</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n replaced</source>
        <translation>
            <numerusform>%n replaced</numerusform>
            <numerusform>%n replaced</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n up to date</source>
        <translation>
            <numerusform>%n up to date</numerusform>
            <numerusform>%n up to date</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s): {changes}</source>
        <translation>
            <numerusform>%n file: {changes}</numerusform>
            <numerusform>%n files: {changes}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NotificationBar</name>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PronunciationPage</name>
    <message numerus="yes">
        <source>Sent to the model as {words}. Used in %n line(s) of this script.</source>
        <translation>
            <numerusform>Sent to the model as {words}. Used in one line of this script.</numerusform>
            <numerusform>Sent to the model as {words}. Used in %n lines of this script.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueuePanel</name>
    <message numerus="yes">
        <source>%n line(s) left</source>
        <translation>
            <numerusform>%n line left</numerusform>
            <numerusform>%n lines left</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n line</numerusform>
            <numerusform>%n lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n take(s)</source>
        <translation>
            <numerusform>%n take</numerusform>
            <numerusform>%n takes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReplaceQuestion</name>
    <message numerus="yes">
        <source>Replace %n file(s)?</source>
        <translation>
            <numerusform>Replace %n file?</numerusform>
            <numerusform>Replace %n files?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ResultPage</name>
    <message numerus="yes">
        <source>%n file(s) written.</source>
        <translation>
            <numerusform>%n file written.</numerusform>
            <numerusform>%n files written.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) up to date.</source>
        <translation>
            <numerusform>%n file up to date.</numerusform>
            <numerusform>%n files up to date.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) could not be spoken</source>
        <translation>
            <numerusform>%n line could not be spoken</numerusform>
            <numerusform>%n lines could not be spoken</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sound(s) or direction(s) not exported.</source>
        <translation>
            <numerusform>%n sound or direction not exported.</numerusform>
            <numerusform>%n sounds or directions not exported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) too long for the slot.</source>
        <translation>
            <numerusform>%n line too long for the slot.</numerusform>
            <numerusform>%n lines too long for the slot.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) missing:</source>
        <translation>
            <numerusform>%n line missing:</numerusform>
            <numerusform>%n lines missing:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) with problems.</source>
        <translation>
            <numerusform>%n line with problems.</numerusform>
            <numerusform>%n lines with problems.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReviewController</name>
    <message numerus="yes">
        <source>%n take(s) accepted.</source>
        <translation>
            <numerusform>%n take accepted.</numerusform>
            <numerusform>%n takes accepted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n other automatic take(s) removed.</source>
        <translation>
            <numerusform>%n other automatic take removed.</numerusform>
            <numerusform>%n other automatic takes removed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n other take(s) chosen.</source>
        <translation>
            <numerusform>%n other take chosen.</numerusform>
            <numerusform>%n other takes chosen.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Checking %n take(s)</source>
        <translation>
            <numerusform>Checking %n take</numerusform>
            <numerusform>Checking %n takes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ScriptNavigation</name>
    <message numerus="yes">
        <source>%n line(s) selected</source>
        <translation>
            <numerusform>%n line selected</numerusform>
            <numerusform>%n lines selected</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ScriptPage</name>
    <message numerus="yes">
        <source>%n line(s) pasted</source>
        <translation>
            <numerusform>%n line pasted</numerusform>
            <numerusform>%n lines pasted</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) imported</source>
        <translation>
            <numerusform>%n line imported</numerusform>
            <numerusform>%n lines imported</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) removed</source>
        <translation>
            <numerusform>%n line removed</numerusform>
            <numerusform>%n lines removed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) copied</source>
        <translation>
            <numerusform>%n line copied</numerusform>
            <numerusform>%n lines copied</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SilenceDialog</name>
    <message numerus="yes">
        <source>%n take(s) become shorter.</source>
        <translation>
            <numerusform>%n take becomes shorter.</numerusform>
            <numerusform>%n takes become shorter.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n locked line(s) keep their takes.</source>
        <translation>
            <numerusform>%n locked line keeps its take.</numerusform>
            <numerusform>%n locked lines keep their takes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n take(s) shortened, by {saved:.2f} s.</source>
        <translation>
            <numerusform>%n take shortened, by {saved:.2f} s.</numerusform>
            <numerusform>%n takes shortened, by {saved:.2f} s.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SpeakersController</name>
    <message numerus="yes">
        <source>%n quotation(s) assigned</source>
        <translation>
            <numerusform>%n quotation assigned</numerusform>
            <numerusform>%n quotations assigned</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SpeakersDialog</name>
    <message numerus="yes">
        <source>Discard %n assigned speaker(s)?</source>
        <translation>
            <numerusform>Discard %n assigned speaker?</numerusform>
            <numerusform>Discard %n assigned speakers?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n quotation(s)</source>
        <translation>
            <numerusform>%n quotation</numerusform>
            <numerusform>%n quotations</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n character</numerusform>
            <numerusform>%n characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n doubtful</source>
        <translation>
            <numerusform>%n doubtful</numerusform>
            <numerusform>%n doubtful</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StageCard</name>
    <message numerus="yes">
        <source>Why not faster? (%n other engine(s))</source>
        <translation>
            <numerusform>Why not faster? (%n other engine)</numerusform>
            <numerusform>Why not faster? (%n other engines)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TaskReporter</name>
    <message numerus="yes">
        <source>%n queued</source>
        <translation>
            <numerusform>%n queued</numerusform>
            <numerusform>%n queued</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more in parallel</source>
        <translation>
            <numerusform>%n more in parallel</numerusform>
            <numerusform>%n more in parallel</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TranscriptComparison</name>
    <message numerus="yes">
        <source>and %n other place(s)</source>
        <translation>
            <numerusform>and %n other place</numerusform>
            <numerusform>and %n other places</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>UpdateDialog</name>
    <message numerus="yes">
        <source>%n locked line(s) stay as they are.</source>
        <translation>
            <numerusform>%n locked line stays as it is.</numerusform>
            <numerusform>%n locked lines stay as they are.</numerusform>
        </translation>
    </message>
</context>
</TS>
